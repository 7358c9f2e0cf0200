"""Keep of a node: an operator keeps it up for a bounded time, also without a job."""

from dataclasses import dataclass

#: Longest time of a keep in seconds. Landbridge's choice: an idle node costs money, and a longer need is the pool's `min_nodes`.
MAX_KEEP_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class NodeKeep:
    """Keep of a node until `until`; `by`: the operator."""

    until: float
    since: float
    reason: str
    by: str = ""
