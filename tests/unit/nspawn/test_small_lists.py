"""Package lists of the lab's base image: of a pinned suite the wanted packages with their dependencies, of others no unused section."""

import runpy
from importlib.resources import files

import pytest

PROGRAM = runpy.run_path(str(files("sandbox.nspawn.machine") / "files/small-lists.py"))
TEXTS = {
    "slurmd": "Package: slurmd\nSource: slurm-wlm (26.05.1-1)\nPre-Depends: init\nDepends: libmunge2 (>= 0.5), a | b\n",
    "libmunge2": "Package: libmunge2\nDepends: libc6:any",
    "b": "Package: b",
    "mail": "Package: mail\nProvides: init (= 1), other",
    "hwloc": "Package: hwloc",
    "unused": "Package: unused\nDepends: slurmd",
}


@pytest.mark.parametrize(
    ("sources", "kept"),
    [({"slurm-wlm"}, {"slurmd", "libmunge2", "b", "mail"}), ({"hwloc"}, {"hwloc"}), (set(), set())],
)
def test_the_packages_of_a_source_stay_with_all_that_they_depend_on(sources: set[str], kept: set[str]) -> None:
    texts = PROGRAM["with_dependencies"](list(TEXTS.values()), sources)
    assert sorted(texts) == sorted(TEXTS[name] for name in kept)
