"""Throughput sample between a host of the site and a node in AWS: both directions, one after the other."""

import base64
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from landbridge.ops.netcheck.collect import HostFacts, LinkHost
from landbridge.ops.netcheck.result import LinkResult, Subject
from landbridge.plan.site.link.expectations import LinkExpectations

PROBE = Path(__file__).with_name("throughput_probe.py")
#: Seconds in which both ends must have begun: ssh to a host may be slow.
_WAIT_SECONDS = 20
_BITS_OF_A_BYTE, _MEGA = 8, 1_000_000


def throughput_ends(chosen: Sequence[LinkHost]) -> tuple[LinkHost, LinkHost]:
    """Return the first host of the site that is not a gateway, and the first node in AWS.

    Raises ValueError if one of them is missing.
    """
    at_site = next((host for host in chosen if host.side == "onprem" and host.gateway is None), None)
    in_aws = next((host for host in chosen if host.side == "aws"), None)
    if at_site is None or in_aws is None:
        raise ValueError("a sample needs a running node in AWS: --from USER@ADDRESS")
    return at_site, in_aws


def sample(expected: LinkExpectations, ends: tuple[LinkHost, LinkHost], every: Sequence[HostFacts]) -> list[HostFacts]:
    """Return the facts with the samples that each of the two hosts received."""
    samples = {}
    for receiver, sender in (ends[::-1], ends):
        samples[receiver.name] = _measure(expected, receiver, sender)
    return [
        replace(facts, data={**facts.data, "throughput": [samples[facts.host.name]]})
        if facts.host.name in samples
        else facts
        for facts in every
    ]


def throughput_results(expected: LinkExpectations, facts: HostFacts) -> Iterator[LinkResult]:
    """Yield a result for each sample that a host received."""
    for received in facts.data.get("throughput", ()):
        subject = Subject("throughput", facts.host.name, f"from {received['sender']}")
        if received.get("error") or not received.get("bytes") or not received.get("seconds"):
            yield subject.unjudged(received.get("error") or "no bytes came")
            continue
        rate = megabits(received)
        text = f"{rate:.0f} Mbit/s over {received['connections']} connections ({received['bytes'] / _MEGA:.0f} MB in {received['seconds']:.1f} s)"
        limit = expected.limits.throughput.mbps
        yield (
            subject.passed(text)
            if rate >= limit
            else subject.fault("low-throughput", f"{text}; the limit is {limit:g} Mbit/s")
        )


def megabits(received: Mapping[str, Any]) -> float:
    """Return the rate of a sample in Mbit/s."""
    return float(received["bytes"] * _BITS_OF_A_BYTE / received["seconds"] / _MEGA)


def _measure(expected: LinkExpectations, receiver: LinkHost, sender: LinkHost) -> dict[str, Any]:
    limits = expected.limits.throughput
    request = {
        "address": receiver.address,
        "port": expected.throughput_port,
        "connections": limits.connections,
        "bytes": limits.bytes,
        "seconds": limits.seconds,
        "wait": _WAIT_SECONDS,
    }
    with ThreadPoolExecutor(2) as pool:
        sent = pool.submit(_run, sender, {**request, "end": "send"})
        received = _run(receiver, {**request, "end": "receive"})
    error = received.get("error") or sent.result().get("error")
    return {**received, "sender": sender.name, **({"error": error} if error else {})}


def _run(host: LinkHost, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run one end on a host, without the rights of root."""
    encoded = base64.b64encode(json.dumps(request).encode()).decode()
    script = f"python3 -B - {encoded}"
    command = [*host.words, script] if host.words else ["sh", "-c", script]
    seconds = 2 * _WAIT_SECONDS + 2 * request["seconds"]
    try:
        done = subprocess.run(command, input=PROBE.read_bytes(), capture_output=True, timeout=seconds, check=False)
        return dict(json.loads(done.stdout))
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return {"error": f"{shlex.join(command[:1])}: {error}"[:300]}
    except ValueError:
        return {"error": (done.stderr or done.stdout).decode(errors="replace").strip()[-300:] or "no facts"}
