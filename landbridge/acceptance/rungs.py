"""Rungs of the acceptance ladder, from the hardware to a training job: program, nodes and time limit of each. Pure."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog.hardware.acceptance import acceptance

Scope = Literal["node", "pairs", "all"]
Site = Literal["onprem", "aws"]
#: Range of message sizes of the collectives; it includes the sizes with thresholds (catalog/acceptance.yaml).
_SIZES = ("-b", "256M", "-e", "16G", "-f", "2")
_COPIES = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce")
TRAINING = "/opt/landbridge/training"
#: Values of --mpi besides the plugins of srun. auto: what suits the MPI library of nccl-tests; mpirun: Open MPI's own launcher.
AUTO, MPIRUN = "auto", "mpirun"


@dataclass(frozen=True, slots=True)
class AcceptanceSettings:
    """Settings of a site. `storage`: the folder for the fio test, empty for the job's own scratch; `size`: fio's size
    of each of four files; `level`: dcgmi's; `mpi`: launcher of programs that span nodes; `programs`: the folder of
    nvbandwidth and nccl-tests on the nodes, empty if they are on PATH or in a package; `training`: that of the Python environment.
    """

    storage: str = ""
    size: str = "8g"
    level: int = 3
    mpi: str = AUTO
    epochs: int = 2
    programs: str = ""
    training: str = TRAINING


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung. `alone`: one process per node; otherwise one per GPU. `minutes`: its time limit; `site`: of its nodes."""

    name: str
    scope: Scope
    minutes: int
    program: str
    alone: bool = True
    site: Site = "onprem"


#: Resources of the list of programs. An exclusive job has all GPUs of its node; if one were missing, the Epilog would drain
#: the node before the next rung. Source: sbatch(1), --exclusive.
_SHARED = ("--mem=100",)
#: The first rung: its job lists the programs of the others on a node.
PROGRAMS = Rung("programs", "node", 2, "sh")
RUNGS = (
    Rung("driver", "node", 5, "nvidia-smi"),
    Rung("dcgm", "node", 60, "dcgmi"),
    Rung("bandwidth", "node", 10, "nvbandwidth"),
    Rung("nccl-node", "node", 10, "all_reduce_perf"),
    Rung("nccl-pairs", "pairs", 15, "all_reduce_perf", alone=False),
    Rung("nccl-all", "all", 20, "all_reduce_perf", alone=False),
    Rung("nccl-efa", "pairs", 15, "all_reduce_perf", alone=False, site="aws"),
    Rung("storage", "node", 15, "fio"),
    Rung("training", "all", 20, "python"),
)


def groups(rung: Rung, nodes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of nodes that a rung runs on. A rung between nodes has no group if there is only one node; an
    odd last node is paired with the first.
    """
    if rung.scope == "node":
        return tuple((node,) for node in nodes)
    if rung.scope == "all":
        # A separate rung runs the collective on one node; no other rung trains on one node.
        return (tuple(nodes),) if len(nodes) > 1 or (nodes and rung.alone) else ()
    pairs = [tuple(nodes[at : at + 2]) for at in range(0, len(nodes), 2)]
    return tuple(pair if len(pair) == 2 else (pair[0], nodes[0]) for pair in pairs if len(nodes) > 1)


def command(rung: Rung, gpus: int, settings: AcceptanceSettings) -> list[str]:
    """Return the command line of the program, for nodes with `gpus` GPUs each."""
    match rung.name:
        case "programs":
            return ["sh", "-c", _programs(settings)]
        case "driver":
            return [
                "nvidia-smi",
                "--query-gpu=name,driver_version,memory.total,pci.bus_id",
                "--format=csv,noheader,nounits",
            ]
        case "dcgm":
            return ["dcgmi", "diag", "-r", str(settings.level), "-j"]
        case "bandwidth":
            return _searched(settings, "nvbandwidth", "-j", "-t", *_COPIES)
        case "storage":
            return ["sh", "-c", _fio(settings)]
        case "training":
            return ["sh", "-c", _train(settings)]
        case _:
            # NCCL's plugin for EFA then prints its provider.
            shown = ["env", "NCCL_DEBUG=INFO"] if rung.name == "nccl-efa" else []
            return [*shown, *_searched(settings, "all_reduce_perf", *_SIZES, "-g", str(gpus if rung.alone else 1))]


def job(
    rung: Rung,
    nodes: Sequence[str],
    gpus: int,
    settings: AcceptanceSettings,
    *,
    wait: int,
    reservation: str = "",
    partition: str = "onprem",
) -> list[str]:
    """Return the arguments of srun, or of salloc for mpirun, for an exclusive job on whole nodes. `wait`: seconds to wait
    for other jobs on the nodes.

    Source: srun(1). --mem=0 is all of a node's memory; --immediate gives up after its seconds.
    """
    tasks = 1 if rung.alone else gpus
    allocation = [
        f"--job-name=landbridge-validate-{rung.name}",
        f"--partition={partition}",
        f"--nodes={len(nodes)}",
        f"--nodelist={','.join(nodes)}",
        f"--ntasks-per-node={tasks}",
        *(_SHARED if rung is PROGRAMS else (f"--gpus-per-node={gpus}", "--exclusive", "--mem=0")),
        f"--time={rung.minutes}",
        f"--immediate={wait}",
        "--chdir=/",
        *([f"--reservation={reservation}"] if reservation else []),
    ]
    if not rung.alone and settings.mpi == MPIRUN:
        return ["salloc", *allocation, "sh", "-c", _mpirun(command(rung, gpus, settings))]
    return [
        "srun",
        *allocation,
        "--kill-on-bad-exit=1",
        *([] if rung.name == "training" else ["--input=none"]),
        *([] if rung.alone else [f"--mpi={'pmix' if settings.mpi == AUTO else settings.mpi}"]),
        *command(rung, gpus, settings),
    ]


def _mpirun(words: Sequence[str]) -> str:
    """Return the shell command that runs Open MPI's mpirun on the first node of an allocation. It needs no plugin of
    Slurm for MPI: it starts its daemons on the other nodes with srun.

    On a node, and not on the host of salloc, which may have another Open MPI and a firewall. A step has its own values
    of the two variables from which mpirun reads the allocation. Source: PRRTE, ras/slurm; srun(1), --overlap.
    """
    variables = ("SLURM_NODELIST", "SLURM_TASKS_PER_NODE")
    step = ["srun", "--overlap", "--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--mpi=none", "--cpu-bind=none"]
    allocated = [f'{name}="${name}"' for name in variables]
    mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", *words]
    return f"exec {shlex.join([*step, '--input=none'])} env {' '.join(allocated)} {shlex.join(mpirun)}"


def _searched(settings: AcceptanceSettings, program: str, *arguments: str) -> list[str]:
    """Return the command line of a program that is searched for on the node."""
    script = f'program=$({_search(settings, program)}) || exit 127; exec "$program" "$@"'
    return ["sh", "-c", script, program, *arguments]


def _search(settings: AcceptanceSettings, program: str) -> str:
    """Return the shell command that prints a program's path on a node: of the site's folder, on PATH, or of a package."""
    if program == "python":
        paths = [_python(settings)]
    elif program in acceptance().programs:
        given = [f"{settings.programs.rstrip('/')}/{program}"] if settings.programs else []
        paths = [*given, program, *acceptance().programs[program]]
    else:
        paths = [program]
    return " || ".join(f"command -v {shlex.quote(path)}" for path in paths)


def _python(settings: AcceptanceSettings) -> str:
    return f"{settings.training.rstrip('/')}/bin/python"


def _programs(settings: AcceptanceSettings) -> str:
    """Return the shell script that prints the programs of a node, and the MPI library of nccl-tests."""
    names = dict.fromkeys([*(rung.program for rung in RUNGS), MPIRUN, "srun"])
    lines = [f'echo "program {name} $({_search(settings, name)})"' for name in names]
    lacking = r"s/^[[:space:]]*\([^ ]*\) => not found.*/lacks \1/p"
    library = r"s/^[[:space:]]*\(libmpi[a-z]*\.so[^ ]*\).*/library \1/p"
    collective = f'ldd "$({_search(settings, "all_reduce_perf")})" 2>/dev/null'
    lines.append(f"{collective} | sed -n -e {shlex.quote(library)} -e {shlex.quote(lacking)}")
    return "\n".join(lines) + "\n:"


def _fio(settings: AcceptanceSettings) -> str:
    """Return fio's command: write four files, then read them, without the page cache; in the job's scratch unless the
    settings have a folder.
    """
    folder = shlex.quote(settings.storage) if settings.storage else '"${SCRATCH:-/tmp}"'
    shared = f"--size={settings.size} --bs=1m --ioengine=libaio --iodepth=16 --direct=1 --numjobs=4 --group_reporting"
    names = "--filename_format=landbridge-validate.$SLURM_JOB_ID.$jobnum"
    jobs = "--name=write --rw=write --end_fsync=1 --name=read --stonewall --rw=read --unlink=1"
    names = names.replace("$jobnum", chr(92) + "$jobnum")
    return f"exec fio --output-format=json --directory={folder} {shared} {names} {jobs}"


def _train(settings: AcceptanceSettings) -> str:
    """Return the training command. It reads the script from standard input, so that no node needs a copy; the processes
    find the first node by its address in Slurm.
    """
    return " && ".join(
        [
            "folder=$(mktemp -d)",
            "trap 'rm -rf \"$folder\"' EXIT",
            'tar -xf - -C "$folder"',
            'first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            'address=$(scontrol getaddrs "$first")',
            "address=${address#*: }",
            'export LANDBRIDGE_COORDINATOR="${address%:*}:$((20000 + SLURM_JOB_ID % 10000))"',
            "unset MLFLOW_TRACKING_URI",
            f'cd "$folder" && {shlex.quote(_python(settings))} train.py --epochs {settings.epochs} --no-resume',
        ]
    )
