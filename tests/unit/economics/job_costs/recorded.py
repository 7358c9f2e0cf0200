"""Recorded files of October 2026 for the sample environment: sacct, node events, the burst journal, DCGM, transfers and CUR."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from landbridge.burst.journal.store import Store
from landbridge.burst.model import Charge, ChargeKey, ChargeKind
from tests.unit.core.samples import changed

MONTH = "2026-10"
SACCT = """\
JobIDRaw|JobID|User|Account|Partition|State|Start|End|NodeList|AllocTRES
11|11|ann|vision|onprem|COMPLETED|2026-10-31T20:00:00|2026-11-01T04:00:00|dgx01|billing=8,cpu=16,gres/gpu:h100=8,gres/gpu=8,mem=64G,node=1
12|12_1|ann|vision|onprem|COMPLETED|2026-10-10T00:00:00|2026-10-10T12:00:00|dgx02|cpu=8,gres/gpu=2,node=1
13|12_2|ann|vision|onprem|FAILED|2026-10-10T00:00:00|2026-10-10T12:00:00|dgx02|cpu=8,gres/gpu=2,node=1
14|14|bob|vision|p5|REQUEUED|2026-10-12T10:00:00|2026-10-12T12:00:00|p5-1|cpu=96,gres/gpu=8,node=1
14|14|bob|vision|onprem|COMPLETED|2026-10-12T13:00:00|2026-10-12T15:00:00|dgx01|cpu=96,gres/gpu=8,node=1
15|15|ann|vision|p5|COMPLETED|2026-10-13T00:00:00|2026-10-13T02:00:00|p5-2|cpu=8,gres/gpu=2,node=1
16|16|bob|vision|p5|CANCELLED by 20002|2026-10-13T00:00:00|2026-10-13T02:00:00|p5-2|cpu=8,gres/gpu=4,node=1
17|17|bob|vision|onprem|PREEMPTED|2026-10-14T00:00:00|2026-10-14T01:30:00|dgx[01-02]|cpu=96,gres/gpu=16,node=2
18|18|bob|vision|onprem|CANCELLED by 20002|None|2026-10-14T01:30:00|None assigned|
"""
EVENTS = """\
NodeName|TimeStart|TimeEnd|State
|2026-10-01T00:00:00|Unknown|
dgx02|2026-10-20T00:00:00|2026-10-21T00:00:00|DOWN*
"""
#: In the form that `dcgmi stats --job --verbose` prints.
STATISTICS = """\
+------------------------------------------------------------------------------+
| GPU ID: 0                                                                    |
+====================================+=========================================+
|-----  Execution Stats  ------------+-----------------------------------------|
| Total Execution Time (sec)         | 43200.1                                 |
+-----  Performance Stats  ----------+-----------------------------------------+
| Energy Consumed (Joules)           | 18000000                                |
| GPU ID: 1                                                                    |
| Energy Consumed (Joules)           | 18000000                                |
"""
COST = {"usd": [1.0, 2.5], "usd_month": [4.0, 4.0], "at_least": False, "charges": []}
LEDGER = [
    {"time": "2026-10-02T00:00:00+00:00", "event": "begin", "transfer": "t1", "command": "put", "user": "ann"},
    {"time": "2026-10-02T01:00:00+00:00", "event": "end", "transfer": "t1", "dataset": "corpus", "cost": COST},
    {"time": "2026-10-03T00:00:00+00:00", "event": "begin", "transfer": "t2", "command": "put", "user": "ann"},
    {"time": "2026-11-02T01:00:00+00:00", "event": "end", "transfer": "t1", "dataset": "later", "cost": COST},
]
PRICE = 55.04


def charge(day: str, job: int, hours: float, kind: ChargeKind) -> Charge:
    key = ChargeKey(f"2026-10-{day}", "p5", "vision", job, kind, "p5.48xlarge")
    return Charge(key, hours * 3600, hours * PRICE)


CHARGES = (
    charge("12", 14, 0.1, ChargeKind.BOOT),
    charge("12", 14, 2.0, ChargeKind.JOB),
    charge("12", 0, 0.2, ChargeKind.IDLE),
    charge("13", 15, 1.0, ChargeKind.JOB),
    charge("13", 16, 1.0, ChargeKind.JOB),
)
SPENT = 4.3 * PRICE + 3.21


def write(folder: Path) -> list[str]:
    """Write the files, and return the options that name them; 3.21 USD are spent without a charge."""
    (folder / "Pulumi.test.yaml").write_text(changed({("onprem", "costs"): {"nodes": {"dgx-h100": {"idle_kw": 2}}}}))
    (folder / "sacct.txt").write_text(SACCT)
    (folder / "events.txt").write_text(EVENTS)
    (folder / "ledger.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in LEDGER))
    for node in ("dgx02", "other"):
        (folder / "statistics" / node).mkdir(parents=True)
    (folder / "statistics" / "dgx02" / "12.txt").write_text(STATISTICS)
    (folder / "statistics" / "other" / "notes.txt").write_text(STATISTICS)
    with closing(Store(folder / "burst.db")) as store:
        before = store.load()
        spent = {(MONTH, "vision", "p5"): SPENT, ("2026-09", "vision", "p5"): 1.0}
        store.save(before, replace(before, spent=spent, charges=CHARGES))
        store.snapshot(folder / "journal")
    return [
        *("--file", str(folder / "Pulumi.test.yaml"), "--sacct", str(folder / "sacct.txt")),
        *("--events", str(folder / "events.txt"), "--journal", str(folder / "journal")),
        *("--statistics", str(folder / "statistics"), "--ledger", str(folder / "ledger.jsonl"), "--grid", "de"),
    ]
