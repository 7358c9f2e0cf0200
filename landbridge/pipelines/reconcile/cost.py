"""Cost of a job from the rates of its nodes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from landbridge.hostlist import HostlistError, expand

_GPUS = re.compile(r"(?:^|,)gres/gpu=(\d+)")


@dataclass(frozen=True, slots=True)
class PipelineNodeRate:
    """Cost of a node in US dollars an hour, and the number of its GPUs."""

    usd_hour: float
    gpus: int


def job_cost(node_list: str, tres: str, seconds: int, rates: Mapping[str, PipelineNodeRate]) -> float | None:
    """Return the cost of a job; None if the rate of one of its nodes is unknown. A job pays for its share of GPUs.

    `tres` is AllocTRES of sacct, such as `cpu=16,gres/gpu=8,node=1`.
    """
    names = _names(node_list)
    if names is None or any(name not in rates for name in names):
        return None
    if not names:
        return 0.0
    matched = _GPUS.search(tres)
    of_nodes = sum(rates[name].gpus for name in names)
    share = min(1.0, int(matched[1]) / of_nodes) if matched is not None and of_nodes else 1.0
    return seconds / 3600 * share * sum(rates[name].usd_hour for name in names)


def _names(node_list: str) -> Sequence[str] | None:
    if node_list in ("", "None assigned", "(null)", "N/A"):
        return ()
    try:
        return expand(node_list)
    except HostlistError:
        return None
