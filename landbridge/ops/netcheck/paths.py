"""Judgement of a path: the largest packet that crosses it, and its round-trip time. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from landbridge.catalog.link import link_facts
from landbridge.ops.netcheck.result import LinkResult, Subject


def path_results(subject: Subject, address: str, data: Mapping[str, Any]) -> Iterator[LinkResult]:
    """Yield the result of the packet size, and of the time if there is one."""
    path = next((path for path in data.get("paths", ()) if path["address"] == address), None)
    if path is None:
        yield subject.unjudged("not measured")
        return
    if path["largest"] is None:
        yield subject.unjudged(path.get("error") or f"{address} does not answer ping")
        return
    yield _size(subject, path)
    yield _time(replace(subject, check="latency"), path["milliseconds"])


def _size(subject: Subject, path: Mapping[str, Any]) -> LinkResult:
    largest, expected_mtu, reported = path["largest"], path["asked"], path["reported"]
    if largest >= expected_mtu:
        return subject.passed(f"packets of {expected_mtu} bytes cross it")
    if reported is not None:
        return subject.fault(
            "mtu-smaller", f"{expected_mtu} bytes expected, {largest} measured; a router reports {reported}"
        )
    return subject.fault(
        "mtu-black-hole", f"packets of up to {largest} bytes cross it, larger ones of up to {expected_mtu} bytes vanish"
    )


def _time(subject: Subject, milliseconds: list[float]) -> LinkResult:
    if not milliseconds:
        return subject.unjudged("no round-trip time")
    average, limit = sum(milliseconds) / len(milliseconds), link_facts().latency_ms
    text = f"{average:.1f} ms on average of {len(milliseconds)}, {max(milliseconds):.1f} ms at most"
    return (
        subject.passed(text) if average <= limit else subject.fault("slow-link", f"{text}; the limit is {limit:g} ms")
    )
