"""Facts of an environment's hosts for tests of `landbridge status`: netcheck's recorded gateway, and programs of a controller."""

import json
from collections.abc import Mapping
from typing import Any

from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.status.sources import status_sources
from tests.unit.core.samples import environment as sample
from tests.unit.ops.netcheck import records

NOW = 1_795_298_400.0  # 2026-11-21T22:00:00Z
CHANGES: dict[Any, Any] = {
    ("link",): records.LINK,
    ("dns",): {},
    ("budget",): {"monthly_usd": 1000, "pools": {"p5": 400}},
    ("mlops", "mlflow"): {"tls": True},
}
QUEUE = f"RUNNING|None|{NOW - 9000:.0f}\nPENDING|Resources|{NOW - 7200:.0f}\nPENDING|Priority|{NOW - 60:.0f}\nPENDING|Dependency|1\n"
NODES = {
    "nodes": [
        {"name": "dgx01", "state": ["IDLE"]},
        {"name": "dgx02", "state": ["IDLE", "DRAIN"], "reason": "landbridge:xid:79 at 0000:1b:00; do: reboot"},
        {"name": "p5-1", "state": ["DOWN", "CLOUD", "POWERED_DOWN"], "reason": "Scheduler health check failed"},
    ]
}
BURST = f"""landbridge_burst_active 1
landbridge_burst_last_pass_timestamp_seconds {NOW - 5:.0f}
landbridge_burst_instances{{pool="p5",state="running"}} 3
landbridge_burst_spent_usd{{account="vision",month="2026-11",pool="p5"}} 200
landbridge_burst_spent_usd{{account="vision",month="2026-10",pool="p5"}} 9999
landbridge_burst_held_usd{{account="vision",month="2026-11",pool="p5"}} 50.5
# EOF
"""
HEALTHY: dict[str, dict[str, str]] = {
    "ctl01": {"queue": QUEUE, "nodes": json.dumps({"nodes": NODES["nodes"][:1]}), "burst": BURST},
    "mlops01": {
        "certificate": "notAfter=2027-01-20 00:00:00Z\n",
        "authority": "notAfter=2036-01-20 00:00:00Z\n",
        "dumps": f"{NOW - 3600} 5000 mlflow-periodic-20261121.dump\n{NOW - 90000} 5000 mlflow-periodic-20261120.dump\n",
    },
}


def environment() -> Environment:
    return sample(CHANGES)


def facts(changes: Mapping[str, Mapping[str, str | None]] | None = None) -> tuple[HostFacts, ...]:
    """Return the facts of all hosts, with other output of programs; None is a program that failed."""
    gateway = records.healthy(records.expectations())[records.GATEWAY].data["programs"]
    every = []
    for source in status_sources(environment(), records.STACK_OUTPUTS):
        name = source.host.name
        outputs: dict[str, str | None] = {
            "failed units": "",
            "logins": "alice\n",
            **HEALTHY.get(name, {}),
            **(changes or {}).get(name, {}),
        }
        programs = {
            program: {
                "code": 0 if text is not None else 1,
                "out": text or "",
                "err": "" if text is not None else "refused",
            }
            for program, text in outputs.items()
        }
        if source.host.gateway is not None:
            programs = {**{key: gateway[key] for key in ("sas", "log", "neighbors")}, **programs}
        assert set(programs) == set(source.programs), name
        every.append(HostFacts(source.host, {"programs": programs, "time": NOW}))
    return tuple(every)
