"""Samples of the GPUs' use from the nodes (`landbridge-node-health samples`). Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuSample:
    """Use of one GPU at a time. `gpu`: number of its device file; None: not known, as with MIG."""

    at: float
    gpu: int
    utilisation: float | None
    memory_mib: float | None
    watts: float | None


def read_samples(text: str) -> tuple[GpuSample, ...]:
    """Return the samples of a node in their order; a line that is cut off is left out."""
    samples: list[GpuSample] = []
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            samples += [
                GpuSample(float(entry["at"]), int(gpu["gpu"]), gpu["utilisation"], gpu["memory_mib"], gpu["watts"])
                for gpu in entry["gpus"]
            ]
        except (ValueError, KeyError, TypeError):
            continue
    return tuple(sorted(samples, key=lambda sample: sample.at))


def by_gpu(nodes: Mapping[str, str]) -> dict[tuple[str, int], list[GpuSample]]:
    """Return the samples of nodes by node and GPU. `nodes`: text of the samples by node."""
    grouped: dict[tuple[str, int], list[GpuSample]] = {}
    for node, text in nodes.items():
        for sample in read_samples(text):
            grouped.setdefault((node, sample.gpu), []).append(sample)
    return grouped
