"""Phases of `landbridge check` and their times in one process, as JSON: `python -m bench.phases FILE`."""

import json
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

_T = TypeVar("_T")
# A fixed date without effect on the findings; rules about dates run as in a user's check.
DAY = date(2026, 11, 21)


def phases(path: Path) -> dict[str, Any]:
    """Return the seconds of each phase, and of the slowest rules."""
    took: dict[str, float] = {}

    def timed(name: str, act: Callable[[], _T]) -> _T:
        began = time.perf_counter()
        result = act()
        took[name] = time.perf_counter() - began
        return result

    timed("imports", _imports)
    from landbridge.environment import load_environment
    from landbridge.environment.file.source import read
    from landbridge.rules import RULES, check_report

    data = path.read_bytes()
    # The fastest of three runs: work without garbage collection.
    yaml = min(_seconds(lambda: read(data, str(path))) for _ in range(3))
    loading = min(_seconds(lambda: load_environment(path)) for _ in range(3))
    took |= {"yaml": yaml, "model": max(0.0, loading - yaml)}
    loaded = load_environment(path)
    # Once, as in a user's check: it reads the catalogue.
    timed("rules", lambda: check_report(loaded, DAY))
    slowest: dict[str, float] = {}
    for rule in RULES.values():
        began = time.perf_counter()
        if loaded.partial is not None and rule.kind == "environment":
            _run(rule, loaded.partial)
        slowest[rule.name] = time.perf_counter() - began
    top = sorted(slowest.items(), key=lambda item: -item[1])[:3]
    return {"seconds": took, "slowest": dict(top)}


def _imports() -> None:
    import landbridge.cli.environment.check
    import landbridge.rules  # noqa: F401
    from landbridge.environment import Environment

    Environment.model_rebuild()


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _run(rule: Any, environment: Any) -> None:
    for _ in rule.function(environment):
        pass


if __name__ == "__main__":
    json.dump(phases(Path(sys.argv[1])), sys.stdout)
