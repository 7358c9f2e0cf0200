"""First rung of the ladder: programs on the nodes, and the launcher of MPI ranks for every Slurm."""

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.acceptance.climb import Ladder, ProgramResult, climb
from landbridge.acceptance.programs import node_programs, plugins_line
from landbridge.acceptance.result import AcceptanceReport
from landbridge.acceptance.rungs import MPIRUN, PROGRAMS, RUNGS, AcceptanceSettings, Rung, command, job
from landbridge.acceptance.runners import NodeRunner, srun_runner
from landbridge.catalog import platforms
from tests.unit.ops.ladder_outputs import nccl, smi

NODES = ("dgx01", "dgx02")
PATHS = {
    "nvidia-smi": "/usr/bin/nvidia-smi",
    "dcgmi": "/usr/bin/dcgmi",
    "nvbandwidth": "/opt/t/nvbandwidth",
    "all_reduce_perf": "/opt/t/all_reduce_perf",
    "fio": "/usr/bin/fio",
    "python": "/opt/landbridge/training/bin/python",
    "mpirun": "/usr/bin/mpirun",
    "srun": "/usr/bin/srun",
}
#: Output of `srun --mpi=list` of Slurm 24.11.5 from Debian 13, and of 26.05, which has no PMIx.
WITH_PMIX = (
    "MPI plugin types are...\n\tnone\n\tpmix\n\tcray_shasta\n\tpmi2\nspecific pmix plugin versions available: pmix_v5\n"
)
WITHOUT_PMIX = "MPI plugin types are...\n\tnone\n\tpmi2\n"
OLD = "srun: MPI types are...\nsrun: pmix\nsrun: pmix_v3\nsrun: none\nsrun: pmi2\n"
OPEN_MPI, MPICH = "library libmpi.so.40\n", "library libmpich.so.12\n"


def listed(library: str = OPEN_MPI, plugins: str = WITH_PMIX, *, without: Sequence[str] = (), other: str = "") -> str:
    """Return the output of the first rung on a node without some programs."""
    lines = [f"program {name} {'' if name in without else path}\n" for name, path in PATHS.items()]
    return "".join([*lines, library, other, plugins_line(plugins)])


def climbed(text: str, rungs: Sequence[str] = ("driver", "nccl-pairs"), mpi: str = "auto") -> AcceptanceReport:
    """Run rungs on two nodes, whose first rung prints this."""

    def run(rung: Rung, nodes: Sequence[str]) -> ProgramResult:
        outputs = {"programs": text, "driver": smi()}
        return ProgramResult(0, outputs.get(rung.name, nccl(nodes, {2**33: 400.0})))

    kinds = dict.fromkeys(NODES, platforms()["dgx-h100"])
    selected = (PROGRAMS, *(rung for rung in RUNGS if rung.name in rungs))
    return climb(Ladder("test", kinds, run, AcceptanceSettings(mpi=mpi), rungs=selected))


def test_nothing_is_missing() -> None:
    report = climbed(listed())
    assert [outcome.rung for outcome in report.outcomes] == ["programs", "programs", "driver", "driver", "nccl-pairs"]
    assert report.status == "passed"
    assert "MPI: srun --mpi=pmix starts all_reduce_perf with Open MPI" in [c.text for c in report.outcomes[0].checks]


MISSING = [
    ("a program", listed(without=["all_reduce_perf"]), "missing: all_reduce_perf: not on the node"),
    (
        "a library",
        listed(other="lacks libnccl.so.2\n"),
        "missing: all_reduce_perf: /opt/t/all_reduce_perf needs libnccl.so.2, not on the node",
    ),
    ("MPI", listed(library=""), "missing: MPI: all_reduce_perf was built without MPI, which it needs between nodes"),
    (
        "a launcher",
        listed(plugins=WITHOUT_PMIX, without=[MPIRUN]),
        "missing: MPI: all_reduce_perf with Open MPI needs pmix or mpirun; Slurm's plugins are none, pmi2",
    ),
    ("every line", "", "the list of programs is empty"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in MISSING], ids=[row[0] for row in MISSING])
def test_what_is_missing_is_named_before_any_other_rung_runs(text: str, message: str) -> None:
    report = climbed(text)
    assert [(outcome.rung, outcome.status, outcome.message) for outcome in report.outcomes] == [
        ("programs", "unjudged", message)
    ] * 2


def test_only_the_programs_of_the_selected_rungs_are_needed() -> None:
    report = climbed(listed(library="", without=["all_reduce_perf", "fio", "dcgmi", "nvbandwidth"]), ["driver"])
    assert report.status == "passed"


LAUNCHERS = [
    (OPEN_MPI, WITH_PMIX, "pmix"),
    (OPEN_MPI, OLD, "pmix"),
    (OPEN_MPI, WITHOUT_PMIX, "mpirun"),
    (MPICH, WITH_PMIX, "pmi2"),
    (MPICH, WITHOUT_PMIX, "pmi2"),
    ("library libmpi.so.12\n", WITHOUT_PMIX, "pmi2"),
    ("library libmpi_cray.so.12\n", WITH_PMIX, ""),
    ("", WITH_PMIX, ""),
]


@pytest.mark.parametrize(("library", "plugins", "launcher"), LAUNCHERS)
def test_every_slurm_starts_the_ranks_of_both_mpi_libraries(library: str, plugins: str, launcher: str) -> None:
    node = node_programs(listed(library, plugins))
    assert node.launcher("auto") == launcher
    assert node.launcher("pmi2") == "pmi2" and node.launcher("pmix_v4") == ("pmix_v4" if "pmix" in plugins else "")
    # Without a list of plugins, srun reports an unknown one itself.
    assert node_programs(listed(library, "")).launcher("pmix") == "pmix"


def test_a_launcher_of_the_operator_that_slurm_lacks_is_named() -> None:
    (message, _) = [outcome.message for outcome in climbed(listed(plugins=WITHOUT_PMIX), mpi="pmix").outcomes]
    assert message == "missing: MPI: Slurm has no plugin pmix, only none, pmi2"


def test_mpirun_runs_in_an_allocation_on_the_first_node() -> None:
    (pairs,) = (rung for rung in RUNGS if rung.name == "nccl-pairs")
    words = job(pairs, NODES, 8, AcceptanceSettings(mpi=MPIRUN), wait=60)
    assert words[0] == "salloc" and words[-3:-1] == ["sh", "-c"]
    assert {"--nodes=2", "--ntasks-per-node=8", "--exclusive", "--immediate=60"} <= set(words)
    # Options of srun that salloc does not have.
    assert not [word for word in words if word.startswith(("--kill-on-bad-exit", "--input", "--mpi"))]
    script = words[-1].replace("exec srun", "printf '%s\\n'")
    shown = subprocess.run(
        ["sh", "-c", script],
        env={**os.environ, "SLURM_NODELIST": "dgx[01-02]", "SLURM_TASKS_PER_NODE": "8(x2)"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert {"--overlap", "--nodes=1", "--mpi=none", "SLURM_NODELIST=dgx[01-02]"} <= set(shown)
    assert "SLURM_TASKS_PER_NODE=8(x2)" in shown and shown[-2:] == ["-g", "1"]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Return a function that puts an executable script on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return write


def test_the_script_of_the_first_rung_finds_programs_and_libraries(
    host: Callable[[str, str], Path], tmp_path: Path
) -> None:
    for name in ("nvidia-smi", "fio"):
        host(name, "exit 0")
    host("all_reduce_perf", "exit 0")
    # Output of ldd in its form: one library is not found.
    host("ldd", "printf '\\tlibmpich.so.12 => /lib/libmpich.so.12 (0x7f)\\n\\tlibnccl.so.2 => not found\\n'")
    words = command(PROGRAMS, 8, AcceptanceSettings(programs=str(tmp_path)))
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    node = node_programs(text)
    assert node.paths["fio"] == str(tmp_path / "fio") and node.paths["dcgmi"] == node.paths["nvbandwidth"] == ""
    assert (node.implementation, node.lacking) == ("MPICH", ("libnccl.so.2",))


def test_a_program_is_searched_for_in_the_sites_folder_on_path_and_in_packages(
    host: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """DCGM 4 contains nvbandwidth, outside of PATH."""
    (bandwidth,) = (rung for rung in RUNGS if rung.name == "bandwidth")
    in_dcgm = "/usr/libexec/datacenter-gpu-manager-4/plugins/cuda13/nvbandwidth"
    words = command(bandwidth, 8, AcceptanceSettings())
    assert in_dcgm in words[2] and words[3:6] == ["nvbandwidth", "-j", "-t"]

    def output() -> subprocess.CompletedProcess[str]:
        script = words[2].replace(in_dcgm, str(tmp_path / "dcgm/nvbandwidth"))
        return subprocess.run([*words[:2], script, *words[3:]], capture_output=True, text=True, check=False)

    assert output().returncode == 127
    (tmp_path / "dcgm").mkdir()
    host("dcgm/nvbandwidth", 'echo "dcgm $@"')
    assert output().stdout.startswith("dcgm -j -t host_to_device_memcpy_ce")
    host("nvbandwidth", 'echo "path $@"')
    assert output().stdout.startswith("path -j")


def test_the_runner_starts_pairs_with_the_launcher_that_the_first_rung_found(
    host: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """Run on this machine, with a stand-in of srun that prints its arguments."""
    (tmp_path / "programs").write_text("".join(f"program {name} {path}\n" for name, path in PATHS.items()) + MPICH)
    names = "case \"$*\" in --mpi=list) printf 'MPI plugin types are...\\n\\tnone\\n\\tpmi2\\n';;"
    host("srun", f'{names} *validate-programs*) cat {tmp_path}/programs;; *) printf "%s\\n" "$@";; esac')
    run = srun_runner(NodeRunner((), (), dict.fromkeys(NODES, 8), AcceptanceSettings(), partition="gpu"))
    result = run(PROGRAMS, NODES[:1])
    assert node_programs(result.text).plugins == ("none", "pmi2")
    (pairs,) = (rung for rung in RUNGS if rung.name == "nccl-pairs")
    words = run(pairs, NODES).text.splitlines()
    assert "--mpi=pmi2" in words and "--partition=gpu" in words
    # A launcher of the operator stays.
    chosen = NodeRunner((), (), dict.fromkeys(NODES, 8), replace(AcceptanceSettings(), mpi="none"))
    assert "--mpi=none" in srun_runner(chosen)(pairs, NODES).text.splitlines()
