"""Comparison of a program's output with the values that the nodes have to reach. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from landbridge.acceptance import outputs
from landbridge.acceptance.result import AcceptanceCheck, compare
from landbridge.acceptance.rungs import Rung
from landbridge.catalog import InstanceType, Platform
from landbridge.plan.ansible.acceptance import Threshold, bandwidth_thresholds, collective_thresholds
from landbridge.plan.ansible.pool_acceptance import efa_thresholds


def judge(
    rung: Rung,
    platforms: Sequence[Platform],
    text: str,
    site_thresholds: Mapping[str, float],
    driver: str = "",
    *,
    one_domain: bool = False,
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks of one rung on nodes of these platforms. Raises Unreadable.

    `text`: the program's output; `site_thresholds`: a site's own thresholds by `<rung>.<check>`, which take precedence
    over the catalogue's; `driver`: the driver version of the other nodes; `one_domain`: the nodes are in one NVLink
    domain.
    """
    given_thresholds = given(rung, site_thresholds)
    match rung.name:
        case "driver":
            # A warning, as in the node health checks: the GPU works.
            corrupted = [f"corrupted at {address}" for address in outputs.corrupted(text)]
            warnings = (AcceptanceCheck("infoROM", measured, None, reported_only=True) for measured in corrupted)
            return (*_driver(platforms[0], outputs.gpus(text), driver), *warnings)
        case "dcgm":
            diagnosis = outputs.diagnosis(text)
            return tuple(
                AcceptanceCheck(
                    test, _status_text(*results), _passed(results[0]), reported_only=_passed(results[0]) is None
                )
                for test, results in diagnosis.items()
            )
        case "bandwidth":
            all_thresholds = (*given_thresholds, *bandwidth_thresholds(platforms[0]))
            values = outputs.bandwidths(text).items()
            return tuple(
                replace(compare(name, value, all_thresholds, "GB/s"), name=f"{name}, {position}")
                for name, (value, position) in values
            )
        case "storage":
            return (
                AcceptanceCheck("fio", "without an error", True),
                *(
                    compare(direction, round(value, 3), given_thresholds, "GB/s")
                    for direction, value in outputs.disks(text).items()
                ),
            )
        case "training":
            return _training(outputs.losses(text), text)
        case _:
            counts = [platform.gpus.count for platform in platforms]
            thresholds = (*given_thresholds, *collective_thresholds(platforms, one_domain=one_domain))
            return _collective(counts, outputs.collective(text), thresholds)


def judge_pair(
    kinds: Sequence[InstanceType], text: str, given_thresholds: Sequence[Threshold]
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks of all-reduce over EFA between two instances. Raises Unreadable.

    `given_thresholds`: the site's thresholds, which take precedence. Of two types, the slower one decides.
    """
    counts = [kind.accelerators.count if kind.accelerators is not None else 0 for kind in kinds]
    known = [threshold for kind in kinds for threshold in efa_thresholds(kind)]
    known.sort(key=lambda threshold: threshold.at_least)
    provider = outputs.provider(text)
    return (
        AcceptanceCheck("provider", provider or "not efa: NCCL printed none", provider == "efa"),
        *_collective(counts, outputs.collective(text), (*given_thresholds, *known)),
    )


def given(rung: Rung, site_thresholds: Mapping[str, float]) -> tuple[Threshold, ...]:
    """Return a site's own thresholds of a rung; their names are `<rung>.<check>`."""
    return tuple(
        Threshold(name.removeprefix(f"{rung.name}."), value, "GB/s", "given", "given")
        for name, value in site_thresholds.items()
        if name.startswith(f"{rung.name}.")
    )


def _driver(platform: Platform, gpus: Sequence[outputs.MeasuredGpu], driver: str) -> tuple[AcceptanceCheck, ...]:
    count, gpu = platform.gpus.count, platform.gpu
    names, versions = sorted({measured.name for measured in gpus}), sorted({measured.driver for measured in gpus})
    least_mib = min(measured.memory_mib for measured in gpus)
    difference = "" if not driver or versions == [driver] else f", {driver} on the other nodes"
    return (
        AcceptanceCheck("GPUs", float(len(gpus)), len(gpus) == count, float(count), "", "platforms/", "known"),
        AcceptanceCheck("model", ", ".join(names), names == [gpu.name], source=f"gpus.yaml: {gpu.name}"),
        AcceptanceCheck(
            "memory", float(least_mib), least_mib >= gpu.memory_mib, float(gpu.memory_mib), "MiB", "gpus.yaml", "known"
        ),
        AcceptanceCheck("driver", ", ".join(versions) + difference, len(versions) == 1 and not difference),
    )


def _collective(
    counts: Sequence[int], collective: outputs.Collective, thresholds: Sequence[Threshold]
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks of a collective over nodes with these numbers of GPUs."""
    ranks = sum(counts)
    if ranks == 1:
        # One GPU sends nothing: nccl-tests prints a bus bandwidth of 0 (PERFORMANCE.md: factor 2(n-1)/n).
        thresholds = ()
    checks = [
        # A program that was built without MPI runs as separate programs with one rank each.
        AcceptanceCheck(
            "ranks",
            float(collective.ranks),
            collective.ranks == ranks,
            float(ranks),
            "",
            "GPUs of these nodes",
            "known",
        ),
        AcceptanceCheck("hosts", ", ".join(collective.hosts), len(collective.hosts) == len(counts)),
        AcceptanceCheck("wrong values", float(collective.wrong), collective.wrong == 0),
    ]
    known = {threshold.measurement for threshold in thresholds}
    measured = {f"busbw@{size}": busbw for size, busbw in sorted(collective.busbw.items())}
    checks += [compare(name, busbw, thresholds, "GB/s") for name, busbw in measured.items() if name in known]
    largest, busbw = list(measured.items())[-1]
    if largest not in known:
        # Other sizes may have a threshold; without any, the rung is not judged.
        is_judged = ranks == 1 or not known.isdisjoint(measured)
        checks.append(AcceptanceCheck(largest, busbw, None, unit="GB/s", reported_only=is_judged))
    return tuple(checks)


def _training(losses: Sequence[float], text: str) -> tuple[AcceptanceCheck, ...]:
    summary = next((line for line in text.splitlines() if " devices, site " in line), "")
    devices = summary.partition(", ")[2].partition(" devices")[0].rpartition(", ")[2]
    good = all(math.isfinite(loss) for loss in losses) and (len(losses) < 2 or losses[-1] < losses[0])
    return (
        AcceptanceCheck("loss", " -> ".join(f"{loss:g}" for loss in losses), good),
        # A run on CPUs does not judge the GPUs.
        AcceptanceCheck("devices", devices or "not printed", True if "gpu" in devices or "cuda" in devices else None),
    )


def _passed(status: str) -> bool | None:
    """Return whether a test passed; False for a warning, with which a node is not accepted; None for a skipped test."""
    return None if status.lower() == "skip" else status.lower() == "pass"


def _status_text(status: str, message: str) -> str:
    return f"{status}: {message}" if message else status
