"""Measurement of model folders in one run: requests to all of them in turn, so that the machine's load is the same for each."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from landbridge.models.quantising.folders import WEIGHTS, QuantiseError, inputs_of, read_manifest, read_rows
from landbridge.models.sizing.comparison import MeasuredVersion

#: Array of the true labels in a file of rows: the index of the right class.
LABELS = "labels"
_WARM = 20


def measured(folders: Sequence[Path], rows: Path, requests: int, threads: int) -> list[MeasuredVersion]:
    """Return the measurement of each folder on the same rows: `requests` requests of one row each, after some that do not count."""
    arrays = read_rows(rows)
    if LABELS not in arrays:
        raise QuantiseError(f"{rows}: it has no array {LABELS}")
    sessions, inputs = [], []
    for folder in folders:
        inputs.append(inputs_of(arrays, read_manifest(folder), rows))
        sessions.append(session(folder, threads))
    count = len(arrays[LABELS])
    seconds: list[list[float]] = [[] for _ in folders]
    for number in range(_WARM + requests):
        at = number % count
        # The order alternates, so that none of them is always the first.
        order = range(len(folders)) if number % 2 else reversed(range(len(folders)))
        for which in order:
            row = {name: values[at : at + 1] for name, values in inputs[which].items()}
            begin = time.perf_counter()
            sessions[which].run(None, row)
            if number >= _WARM:
                seconds[which].append(time.perf_counter() - begin)
    return [
        MeasuredVersion(
            tuple((_classes(each, values) == arrays[LABELS]).tolist()),
            tuple(times),
            peak_mib(folder, rows, threads),
            (folder / WEIGHTS).stat().st_size,
        )
        for folder, each, values, times in zip(folders, sessions, inputs, seconds, strict=True)
    ]


def session(folder: Path, threads: int) -> Any:
    """Return a session of ONNX Runtime with a number of threads."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"])


def peak_mib(folder: Path, rows: Path, threads: int) -> float:
    """Return the maximum resident memory in MiB of a separate process that predicts all rows one by one."""
    command = [sys.executable, "-m", __name__, str(folder), str(rows), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason"]
        raise QuantiseError(f"{folder}: its memory was not measured: {last[0]}")
    return float(done.stdout)


def _classes(each: Any, inputs: dict[str, Any]) -> Any:
    """Return the predicted class of each row: the greatest value of the first output."""
    return each.run(None, inputs)[0].argmax(axis=-1)


def _main(folder: str, rows: str, threads: str) -> None:
    """Predict all rows, and print the peak of this process's memory (proc(5), VmHWM)."""
    inputs = inputs_of(read_rows(Path(rows)), read_manifest(Path(folder)), Path(rows))
    loaded = session(Path(folder), int(threads))
    for at in range(len(next(iter(inputs.values())))):
        loaded.run(None, {name: values[at : at + 1] for name, values in inputs.items()})
    status = Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


if __name__ == "__main__":
    _main(*sys.argv[1:])
