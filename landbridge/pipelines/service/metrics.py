"""Metrics of the service in Prometheus's text format: time of the last pass, live runs, and ended runs by outcome.

The counters begin at zero with the process. Each account and outcome has its series from the first pass, so that the first failure is a
rise. Source: Prometheus documentation, "Exposition formats" (text-based format).
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

_PREFIX = "landbridge_pipeline_"
OUTCOMES = ("succeeded", "failed", "over budget", "cancelled")


class PipelineMetrics:
    """Counters of the service."""

    def __init__(self, accounts: Iterable[str]) -> None:
        self._live: Counter[str] = Counter(dict.fromkeys(accounts, 0))
        self._ended = Counter({(account, outcome): 0 for account in self._live for outcome in OUTCOMES})

    def live(self, accounts: Iterable[str]) -> None:
        """Count the live runs of a pass by the account of each."""
        counted = Counter(accounts)
        self._live = Counter({account: counted[account] for account in {*self._live, *counted}})

    def ended(self, account: str, outcome: str) -> None:
        """Count a run that ended."""
        self._ended[account, outcome] += 1

    def text(self, at: float) -> str:
        """Return the metrics. `at`: the time of the pass."""
        return "\n".join(self._lines(at)) + "\n"

    def write(self, path: Path, at: float) -> None:
        """Replace the file: the collector reads the old one or the new one. Raises OSError."""
        incoming = path.with_name(f".{path.name}.{os.getpid()}")
        incoming.write_text(self.text(at))
        incoming.chmod(0o644)
        incoming.replace(path)

    def _lines(self, at: float) -> Iterator[str]:
        yield f"# TYPE {_PREFIX}last_pass_timestamp_seconds gauge"
        yield f"{_PREFIX}last_pass_timestamp_seconds {at:.0f}"
        yield f"# TYPE {_PREFIX}live_runs gauge"
        for account, count in sorted(self._live.items()):
            yield f'{_PREFIX}live_runs{{account="{account}"}} {count}'
        yield f"# TYPE {_PREFIX}ended_runs_total counter"
        for (account, outcome), count in sorted(self._ended.items()):
            yield f'{_PREFIX}ended_runs_total{{account="{account}",outcome="{outcome}"}} {count}'
