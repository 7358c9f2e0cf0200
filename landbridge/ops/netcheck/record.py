"""Facts of hosts in a file, to be judged again or elsewhere: written by `--save`, read by `--facts`. No secrets in it."""

import json
from collections.abc import Sequence
from pathlib import Path

from landbridge.ops.netcheck.collect import HostFacts, LinkHost
from landbridge.plan.site.link.expectations import LinkExpectations


class RecordError(Exception):
    """File that is not a record of facts; the message is the reason."""


def write_facts(path: Path, expected: LinkExpectations, every: Sequence[HostFacts]) -> None:
    """Write the facts of all hosts as JSON."""
    hosts = [
        {
            "name": facts.host.name,
            "side": facts.host.side,
            "address": facts.host.address,
            "error": facts.error,
            "clock": facts.clock,
            "margin": facts.margin,
            "data": facts.data,
        }
        for facts in every
    ]
    path.write_text(json.dumps({"environment": expected.environment, "hosts": hosts}, indent=1) + "\n")


def read_facts(path: Path, expected: LinkExpectations) -> tuple[HostFacts, ...]:
    """Return the facts in a file. Raises RecordError."""
    gateways = {gateway.host: gateway for gateway in expected.gateways}
    try:
        record = json.loads(path.read_text())
        return tuple(
            HostFacts(
                LinkHost(entry["name"], entry["side"], entry["address"], (), gateways.get(entry["name"])),
                entry["data"],
                entry["error"],
                entry["clock"],
                entry["margin"],
            )
            for entry in record["hosts"]
        )
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path} is not a file of --save ({type(error).__name__}: {error})") from None
