"""Benchmark of whole passes over 10,000 nodes and 15,000 pending jobs, each as one process from its start to its end.

    python -m bench.burst.passes [--nodes 10000] [--pending 15000] [--interfaces 1]

The daemon makes one pass: it runs scripts in place of sinfo and squeue, which print Slurm's text, describes the instances
over HTTP, and writes its journal to disk. Processor time is user and system time, with that of its commands.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import calibration
from bench.burst.ec2_pages import PAGE_SIZE, Instance, Pages, serving
from bench.burst.process import ProcessResult, run
from bench.burst.site import POOL, REGION, ROOT, TYPE, recorded_job, write_ping
from bench.limits import read_limits, show_limits
from landbridge import tags
from landbridge.burst.journal.paths import DATABASE
from landbridge.burst.journal.store import Store
from landbridge.hostlist import compress
from landbridge.timestamps import iso

NODES, PENDING_JOBS, LAUNCH_SIZE = 10_000, 15_000, 500
#: Script in place of squeue: the jobs on nodes, the pending jobs, or jobs by id, which are pending too; it prints the
#: requested separator, which is the text behind the first field.
SQUEUE = r"""#!/bin/sh
jobs=pending
for word; do
    case $word in
        --Format=*) form=$word ;;
        --nodelist=*) jobs=on-nodes ;;
    esac
done
form=${{form#*:0}}
exec sed "s/\t/${{form%%,*}}/g" {folder}/$jobs.txt
"""
SCONTROL = """#!/bin/sh
[ "$1 $2" = "ping --json" ] && exec cat {folder}/ping.json
echo "$*" >> {folder}/scontrol.log
"""


@dataclass(frozen=True)
class Situation:
    """Situation of a pass; `running`: nodes with an instance and a job each. `keeps`: the journal of the one before."""

    name: str
    running: int
    keeps: bool = False


class Site:
    """Folder with the stand-ins for Slurm's commands, burst.json and the journal."""

    def __init__(self, folder: Path, pages: Pages, nodes: int, pending: int) -> None:
        self.folder, self.pages, self.nodes = folder, pages, nodes
        (folder / "bin").mkdir(parents=True)
        scripts = {"sinfo": "#!/bin/sh\nexec cat {folder}/sinfo.txt\n", "squeue": SQUEUE, "scontrol": SCONTROL}
        for name, text in scripts.items():
            (folder / "bin" / name).write_text(text.format(folder=folder))
            (folder / "bin" / name).chmod(0o755)
        write_ping(folder)
        (folder / "credentials").write_text("[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = x\n")
        (folder / "burst.json").write_text(json.dumps(self._settings()))
        now = int(time.time())
        (folder / "pending.txt").write_text(
            "".join(
                recorded_job(
                    {"JobID": number, "State": "PENDING", "NodeList": "", "Partition": "gpu", "EligibleTime": now}
                    | {"StartTime": "N/A"}
                )
                for number in range(1, pending + 1)
            )
        )

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "LANDBRIDGE_BURST_CONFIG": str(self.folder / "burst.json"),
            "PYTHONPATH": str(ROOT),
        }

    def prepare(self, running: int) -> None:
        """Write the answers of Slurm and EC2: the first `running` nodes have an instance and a job each."""
        now = int(time.time())
        self.pages.instances = [_instance(number, running, now) for number in range(1, running + 1)]
        jobs = [
            recorded_job({"JobID": 100_000 + n, "State": "RUNNING", "NodeList": f"{POOL}-{n}", "StartTime": now - 600})
            for n in range(1, running + 1)
        ]
        (self.folder / "on-nodes.txt").write_text("".join(jobs))
        parts = ((1, running, "allocated+cloud"), (running + 1, self.nodes, "idle+cloud+powered_down"))
        (self.folder / "sinfo.txt").write_text(
            "".join(f"{POOL}-[{first}-{last}] {state}\n" for first, last, state in parts if first <= last)
        )
        (self.folder / "scontrol.log").write_text("")

    def one_pass(self) -> ProcessResult:
        return run((sys.executable, "-m", "landbridge.burst.daemon.daemon", "--once"), self.environ)

    def check(self, result: ProcessResult, running: int) -> None:
        """Raise RuntimeError if the pass has not seen all instances, or has changed a node."""
        with closing(Store(self.folder / DATABASE)) as store:
            holds = len(store.load().holds)
        if "Traceback" in result.output or holds != running or (self.folder / "scontrol.log").read_text():
            raise RuntimeError(f"{holds} of {running} instances in the journal: {result.output[-800:]}")

    def forget(self) -> None:
        for path in self.folder.glob("burst.db*"):
            path.unlink()

    def _settings(self) -> dict[str, object]:
        offering = {
            "key": f"{TYPE}/use1-az4/on-demand",
            "kind": "on_demand",
            "instance_type": TYPE,
            "subnet": "subnet-1",
            "zone": "use1-az4",
            "market": "on-demand",
            "launch_template_id": "lt-1",
            "launch_template_version": "1",
            "usd_hour": 55.04,
        }
        return {
            "cluster": "bench",
            "region": REGION,
            "endpoint": self.pages.endpoint,
            "credentials_file": str(self.folder / "credentials"),
            "slurm_key_secret": "bench/slurm-key",
            "state_dir": str(self.folder),
            "socket": str(self.folder / "burst.sock"),
            "metrics": None,
            "snapshot_dir": str(self.folder / "snapshot"),
            "accounts": {"vision": {"data_class": "internal", "aws": True}},
            # So every pass reads all pending jobs.
            "promotions": [{"partition": "gpu", "partitions": [POOL], "wait_seconds": 86_400}],
            "pools": {POOL: {"node_prefix": f"{POOL}-", "max_nodes": self.nodes, "offerings": [offering]}},
        }


def _instance(number: int, count: int, now: int) -> Instance:
    """Return the instance of a node, launched with up to `LAUNCH_SIZE` others for one job each."""
    first = number - (number - 1) % LAUNCH_SIZE
    last = min(first + LAUNCH_SIZE - 1, count)
    token = f"lb-{first:032x}"
    return Instance(
        number,
        number - first,
        token,
        f"{iso(now - 900)[:-1]}.000Z",
        {
            tags.CLUSTER: "bench",
            tags.NAME: f"bench-{POOL}",
            tags.POOL: POOL,
            tags.NODES: compress(f"{POOL}-{node}" for node in range(first, last + 1)),
            tags.LAUNCH: token,
            tags.JOB: str(100_000 + first),
            tags.ACCOUNT: "vision",
            tags.LEASE_EXPIRES: iso(now + 40 * 86_400),
            tags.DATA_CLASS: "internal",
        },
    )


def values(nodes: int, pending: int, interfaces: int) -> dict[str, float]:
    """Measure a pass in each situation; print a row for each."""
    situations = (
        Situation("all powered down", 0),
        Situation("all running, a job each, no journal", nodes),
        Situation("all running, a job each", nodes, keeps=True),
    )
    # Pages that EC2 needs for the instances of the largest situation.
    measured = {"pass: pages of instances": float(max(1, -(-nodes // PAGE_SIZE)))}
    print(f"one pass over {nodes:,} nodes with {pending:,} pending jobs, as a process\n")
    print(f"{'':38} {'CPU s':>7} {'wall s':>7} {'peak MiB':>9} {'EC2 calls':>10} {'EC2 MB':>7}")
    with tempfile.TemporaryDirectory(prefix="landbridge-pass-") as folder, serving(Pages()) as pages:
        pages.interfaces = interfaces
        site = Site(Path(folder) / "site", pages, nodes, pending)
        for situation in situations:
            site.prepare(situation.running)
            if not situation.keeps:
                site.forget()
            pages.sent = pages.calls = 0
            result = site.one_pass()
            site.check(result, situation.running)
            print(
                f"{situation.name:38} {result.cpu:7.2f} {result.seconds:7.2f} {result.mib:9.1f} {pages.calls:10}"
                f" {pages.sent / 1e6:7.1f}",
                flush=True,
            )
            name = f"pass, {situation.name}"
            measured |= {f"{name}: CPU s": result.cpu, f"{name}: MB": result.mb, f"{name}: calls of EC2": pages.calls}
    return measured


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if every pass is within the limits."""
    parser = argparse.ArgumentParser(prog="python -m bench.burst.passes", description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--pending", type=int, default=PENDING_JOBS)
    parser.add_argument("--interfaces", type=int, default=1, help="network interfaces of each instance")
    options = parser.parse_args(argv)
    measured = calibration.values_with([lambda: values(options.nodes, options.pending, options.interfaces)])
    return 0 if show_limits(read_limits({"pass"}), measured) else 1


if __name__ == "__main__":
    sys.exit(main())
