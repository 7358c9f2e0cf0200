"""Package lists of the lab's base image: of a pinned suite the wanted packages with their dependencies, of others no unused section."""

import runpy
from importlib.resources import files

import pytest

PROGRAM = runpy.run_path(str(files("sandbox.nspawn.machine") / "files/small-lists.py"))
TEXTS = {
    "slurmd": "Package: slurmd\nSource: slurm-wlm (26.05.1-1)\nPre-Depends: init\nDepends: libmunge2 (>= 0.5), absent | a | b",
    "libmunge2": "Package: libmunge2\nDepends: libc6:any",
    "a": "Package: a\nSection: localization\nDepends: b | a",
    "b": "Package: b\nSection: rust",
    "systemd": "Package: systemd\nProvides: init (= 1), other",
    "hwloc": "Package: hwloc\nSection: contrib/admin",
    "game": "Package: game\nSection: contrib/games\nDepends: slurmd",
}


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ({"slurm-wlm"}, {"slurmd", "libmunge2", "a", "systemd"}),
        ({"hwloc"}, {"hwloc"}),
        (set(), set(TEXTS) - {"b", "game"}),
    ],
)
def test_chosen_packages_stay_with_all_that_they_depend_on(sources: set[str], names: set[str]) -> None:
    wanted = [text for text in TEXTS.values() if PROGRAM["is_wanted"](text, sources)]
    texts = PROGRAM["with_dependencies"](list(TEXTS.values()), wanted)
    assert sorted(texts) == sorted(TEXTS[name] for name in names)
