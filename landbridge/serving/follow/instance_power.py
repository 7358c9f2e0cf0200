"""Daemon that starts and stops hosts of model servers in AWS, on the model gateway's host.

    python -m landbridge.serving.follow.instance_power [--config FILE] [--follow FILE] [--once]

It reads the record of the scale, which landbridge-serving writes, and EC2. It may be killed at any point: the next pass looks again, and an
instance that it leaves behind belongs to the stack and is stopped by the next pass. Its account alone reads the AWS credentials.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.host_lock import lock_host
from landbridge.serving.follow.config import FollowConfig, FollowConfigError, load_follow_config, read_hosts_until
from landbridge.serving.follow.instance_gauges import GAUGES, instance_gauges
from landbridge.serving.follow.instances import (
    HostInstance,
    PowerState,
    absent_hosts,
    after_start,
    after_stop,
    power_plan,
)
from landbridge.serving.follow.record import write_whole
from landbridge.serving.follow.scaler import used_hosts, wanted_count
from landbridge.systemd import notify
from landbridge.tags import CLUSTER, MODEL_SERVER, SERVING

CONFIG, FOLLOW = "/etc/landbridge/model-instances.json", "/etc/landbridge/model-follow.json"
#: Tag of a host's name.
HOST = "landbridge:host"
_ENDS = (signal.SIGTERM, signal.SIGINT)
_OPTIONS = Config(retries={"mode": "standard", "total_max_attempts": 3}, connect_timeout=3, read_timeout=20)
#: A terminated instance stays visible for about an hour. Source: EC2 User Guide, "Instance lifecycle".
_LIVE = ["pending", "running", "stopping", "stopped"]


@dataclass
class InstancePower:
    """Passes over the hosts in AWS. `wanted` returns the hosts that the services need at a time, and whether one needs more than it has."""

    settings: Mapping[str, Any]
    state: Path
    wanted: Callable[[float], tuple[frozenset[str], bool]]
    clock: Callable[[], float]
    log: Callable[[str], None]
    _said: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Make a pass. A fault of AWS is logged, once until it changes."""
        try:
            self._pass()
            self._say("AWS", "")
        except (BotoCoreError, ClientError) as error:
            self._say("AWS", str(error))

    def _pass(self) -> None:
        client, now = self._client(), self.clock()
        hosts: tuple[str, ...] = tuple(self.settings["hosts"])
        instances = tuple(_instances(client, self.settings["cluster"], hosts))
        wanted, is_short = self.wanted(now)
        plan = power_plan(hosts, wanted, instances, read_power(self.state), now, is_short=is_short)
        state = plan.state
        try:
            for each in plan.start:
                reason = _refusal(client.start_instances, each.id)
                state = after_start(state, each.host, now, is_refused=bool(reason))
                self.log(f"{each.host}: start of {each.id}{f' refused: {reason}' if reason else ''}")
            for each in plan.stop:
                reason = _refusal(client.stop_instances, each.id)
                state = state if reason else after_stop(state, each.host, now)
                self._say(f"{each.host}: stop of {each.id}", reason or "ordered")
        finally:
            # An order without an answer does not lose those before it.
            self._write("power.json", json.dumps(asdict(state), sort_keys=True))
        self._write("absent.json", json.dumps(absent_hosts(hosts, instances, state)))
        # Node exporter has another account.
        write_whole(self.state / GAUGES, instance_gauges(hosts, wanted, instances, state, now), 0o644)

    def _client(self) -> Any:
        fips = Config(use_fips_endpoint=True) if self.settings["fips"] else Config()
        session = boto3.session.Session(region_name=self.settings["region"])
        return session.client("ec2", endpoint_url=self.settings["endpoint"], config=_OPTIONS.merge(fips))

    def _write(self, name: str, text: str) -> None:
        path = self.state / name
        if not path.exists() or path.read_text() != f"{text}\n":
            write_whole(path, f"{text}\n")

    def _say(self, subject: str, text: str) -> None:
        if self._said.get(subject, "") != text:
            self._said[subject] = text
            self.log(f"{subject}: {text or 'no fault any more'}")


def read_power(state: Path) -> PowerState:
    """Return the record; an empty one if it is lost: then no instance was started by this program, and each is stopped an hour later."""
    try:
        data = json.loads((state / "power.json").read_text())
        return PowerState(**{key: {str(h): float(t) for h, t in value.items()} for key, value in data.items()})
    except (OSError, AttributeError, TypeError, ValueError):
        return PowerState()


def needed_hosts(config: FollowConfig, hosts: Sequence[str], at: float) -> tuple[frozenset[str], bool]:
    """Return the hosts in AWS that a service uses now, or all of them while the operator's order holds, and whether a service needs more hosts
    than it has.
    """
    used = {service.name: used_hosts(config, service) for service in config.services}
    is_short = any(len(used[service.name]) < wanted_count(config, service) for service in config.services)
    if at < read_hosts_until(config.orders):
        return frozenset(hosts), is_short
    return frozenset(host for names in used.values() for host in names if host in hosts), is_short


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal stops the daemon; return 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="landbridge.serving.follow.instance_power")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--follow", type=Path, default=Path(FOLLOW))
    parser.add_argument("--once", action="store_true", help="run one pass and exit")
    options = parser.parse_args(argv)
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        settings = json.loads(options.config.read_text())
        config = load_follow_config(options.follow)
        state = config.state / "instances"
        lock = lock_host(state / "lock")
    except (FollowConfigError, OSError, ValueError) as error:
        log(f"cannot start: {error}")
        return 1
    if settings["credentials_file"]:
        os.environ.setdefault("AWS_SHARED_CREDENTIALS_FILE", settings["credentials_file"])
    with lock:
        wanted = partial(needed_hosts, config, settings["hosts"])
        power = InstancePower(settings, state, wanted, time.time, log)
        if options.once:
            power.run()
            return 0
        notify("READY=1")
        while True:
            power.run()
            notify("WATCHDOG=1")
            if signal.sigtimedwait(_ENDS, settings["seconds"]) is not None:
                break
        notify("STOPPING=1")
    return 0


def log(text: str) -> None:
    """Write a line to the service's log: standard error, which systemd keeps."""
    print(text, file=sys.stderr, flush=True)


def _instances(client: Any, cluster: str, hosts: Sequence[str]) -> Any:
    filters = [
        {"Name": f"tag:{CLUSTER}", "Values": [cluster]},
        {"Name": f"tag:{SERVING}", "Values": [MODEL_SERVER]},
        {"Name": "instance-state-name", "Values": _LIVE},
    ]
    for page in client.get_paginator("describe_instances").paginate(Filters=filters):
        for instance in (each for reservation in page["Reservations"] for each in reservation["Instances"]):
            host = next((tag["Value"] for tag in instance.get("Tags", ()) if tag["Key"] == HOST), "")
            if host in hosts:
                yield HostInstance(host, instance["InstanceId"], instance["State"]["Name"])


def _refusal(call: Callable[..., Any], instance: str) -> str:
    """Make a call for an instance; return the reason if AWS refuses it, such as InsufficientInstanceCapacity or a missing right."""
    try:
        call(InstanceIds=[instance])
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return ""


if __name__ == "__main__":
    sys.exit(main())
