"""Job file of `sbatch`: the options of its #SBATCH lines that a SageMaker training job has too. Pure.

Source (2026-11-26): sbatch(1) of Slurm 25.11, options and forms of `--time`; pyxis, `--container-image`.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.findings import Finding

RULE = "training-job-file"
_SHORT = {"-A": "--account", "-J": "--job-name", "-N": "--nodes", "-t": "--time", "-G": "--gpus", "-p": "--partition"}
_READ = frozenset(
    [
        "--account",
        "--job-name",
        "--nodes",
        "--time",
        "--gpus",
        "--gpus-per-node",
        "--gres",
        "--comment",
        "--partition",
        "--wckey",
        "--container-image",
    ]
)
#: Options without which the job would be another one: an array, dependencies, and several jobs.
_REFUSED = {
    "--array": "a training job has no array: submit a file for each task",
    "-a": "a training job has no array: submit a file for each task",
    "--dependency": "SageMaker has no dependencies between jobs: a pipeline orders its steps",
    "-d": "SageMaker has no dependencies between jobs: a pipeline orders its steps",
}
_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_GPUS = re.compile(r"(?:gpu:)?(?:([A-Za-z][\w.-]*):)?(\d+)")


@dataclass(frozen=True, slots=True)
class BatchJob:
    """Job of a job file. `gpus`: of one node; `gpu`: their model, empty for any; `image`: the container image."""

    script: str
    name: str
    account: str
    nodes: int
    gpus: int
    seconds: int
    gpu: str = ""
    comment: str = ""
    wckey: str = ""
    image: str = ""
    partition: str = ""


def parse_batch_job(text: str) -> BatchJob | list[Finding]:
    """Return the job of a file, or all its faults."""
    findings: list[Finding] = []
    options: dict[str, tuple[str, int]] = {}
    for line, words in _lines(text, findings):
        _read(words, line, options, findings)
    values = {name: value for name, (value, _) in options.items()}

    def fault(option: str, message: str, fix: str | None = None) -> None:
        findings.append(Finding(RULE, message, fix=fix, line=options[option][1] if option in options else None))

    nodes = _nodes(values.get("--nodes", "1"))
    if nodes is None:
        fault("--nodes", f"--nodes={values['--nodes']} is not a number of nodes")
    gpu, gpus = _gpus(values, nodes or 1)
    if gpus is None:
        fault("--gres", "the GPUs of a node are not stated", "add #SBATCH --gpus-per-node=N")
    seconds = _seconds(values.get("--time", ""))
    if seconds is None:
        message = "the job has no time limit, so its cost is not known" if "--time" not in values else "is not a time"
        fault("--time", message if "--time" not in values else f"--time={values['--time']} {message}", "add --time")
    if not values.get("--account"):
        fault("--account", "the account is not stated, so the data class is not known", "add #SBATCH --account=NAME")
    if findings or nodes is None or gpus is None or seconds is None:
        return findings
    return BatchJob(
        script=text,
        name=values.get("--job-name", "job"),
        account=values["--account"].lower(),
        nodes=nodes,
        gpus=gpus,
        seconds=seconds,
        gpu=gpu,
        comment=values.get("--comment", ""),
        wckey=values.get("--wckey", ""),
        image=image_name(values.get("--container-image", "")),
        partition=values.get("--partition", ""),
    )


def image_name(text: str) -> str:
    """Return an image in Docker's form: enroot separates the registry with `#`."""
    return text.removeprefix("docker://").replace("#", "/", 1)


def _lines(text: str, findings: list[Finding]) -> Iterator[tuple[int, list[str]]]:
    """Yield number and words of the #SBATCH lines: those before the first command, as sbatch reads them."""
    for number, line in enumerate(text.splitlines(), start=1):
        if number == 1 and not line.startswith("#!"):
            findings.append(Finding(RULE, "the first line has no `#!`, so sbatch refuses the file too", line=1))
        if line.startswith("#SBATCH"):
            try:
                words = shlex.split(line.removeprefix("#SBATCH"))
                comment = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
                yield number, words[:comment]
            except ValueError as error:
                findings.append(Finding(RULE, f"the line cannot be read: {error}", line=number))
        elif line.strip() and not line.startswith("#"):
            return


def _read(words: list[str], line: int, options: dict[str, tuple[str, int]], findings: list[Finding]) -> None:
    """Add the options of a line: `--name=value`, `--name value`, `-n value` and `-nvalue`."""
    words = list(words)
    while words:
        word = words.pop(0)
        name, mark, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        if name in _REFUSED:
            findings.append(Finding(RULE, f"{name}: {_REFUSED[name]}", line=line))
        long = _SHORT.get(name, name)
        if long not in _READ:
            # An option without a meaning in SageMaker, and perhaps its value.
            while words and not mark and not words[0].startswith("-"):
                words.pop(0)
            continue
        if not mark:
            value = words.pop(0) if words else ""
        options[long] = (value, line)


def _nodes(text: str) -> int | None:
    """Return the nodes of `N` or `N-M`: a training job has the first number."""
    match = re.fullmatch(r"(\d+)(?:-\d+)?", text)
    return int(match[1]) or None if match else None


def _gpus(values: dict[str, str], nodes: int) -> tuple[str, int | None]:
    """Return model and number of the GPUs of a node."""
    per_node = values.get("--gpus-per-node") or next(
        (word for word in values.get("--gres", "").split(",") if word.startswith("gpu")), ""
    )
    match = _GPUS.fullmatch(per_node or values.get("--gpus", ""))
    if match is None:
        return "", None
    count = int(match[2]) if per_node else -(-int(match[2]) // nodes)
    return (match[1] or "").lower(), count or None


def _seconds(text: str) -> int | None:
    """Return the seconds of a time: M, M:S, H:M:S, D-H, D-H:M and D-H:M:S."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
        total = int(days) * 86_400 + hours * 3600 + minutes * 60 + seconds
    elif len(numbers) == 3:
        total = numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    else:
        minutes, seconds = (*numbers, 0)[:2]
        total = minutes * 60 + seconds
    return total or None
