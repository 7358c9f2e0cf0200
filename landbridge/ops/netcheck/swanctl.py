"""Parser of strongSwan's output: associations of `swanctl --list-sas --raw`, and failures in charon's log. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: A section's name with its bracket, a closing bracket, a list, or a value up to the next key, section or bracket.
_TOKEN = re.compile(
    r"\s*(?:(?P<section>[^\s={}]+) \{|(?P<end>\})|(?P<key>[\w.-]+)=(?:\[(?P<list>[^\]]*)\]"
    r"|(?P<value>.*?)(?=\s+[\w.-]+=|\s+[^\s={}]+ \{|\s*\}|\s*$)))"
)
_ATTEMPT = re.compile(r"initiating IKE_SA (\S+?)\[\d+\]|vici (?:initiate|terminate) (?:CHILD|IKE)_SA '([^']+)'")
_FAILURES = {
    "received NO_PROPOSAL_CHOSEN": "proposal-mismatch",
    "no matching proposal found": "proposal-mismatch",
    "received AUTHENTICATION_FAILED": "authentication-failed",
    "MAC mismatched": "authentication-failed",
    "no shared key found": "authentication-failed",
    "subject certificate invalid": "certificate-expired",
    "issuer certificate invalid": "certificate-expired",
    "no issuer certificate found": "certificate-untrusted",
    "not authenticated by CA": "certificate-untrusted",
    "no trusted": "certificate-untrusted",
    "peer not responding": "ike-no-answer",
    "giving up after": "ike-no-answer",
}


@dataclass(frozen=True, slots=True)
class Association:
    """IKE association of a connection. `installed`: it has a child with keys in the data path. `nat`: an end of it found
    a translated address; `encapsulated`: ESP in UDP.
    """

    name: str
    state: str
    remote: str
    installed: bool
    nat: bool
    encapsulated: bool
    bytes_in: int = 0
    bytes_out: int = 0


def associations(text: str) -> tuple[Association, ...]:
    """Return the associations of `--list-sas --raw`, whose last line is the reply. Raises ValueError without it."""
    if "list-sas reply {}" not in text.splitlines():
        raise ValueError(f"not swanctl's complete list: {text[:60]}")
    events = [raw(line.removeprefix("list-sa event ")) for line in text.splitlines() if line.startswith("list-sa ")]
    return tuple(_association(name, values) for event in events for name, values in event.items())


def raw(text: str) -> dict[str, Any]:
    """Return the sections and values of one line of swanctl's raw output. Raises ValueError for another text."""
    top: dict[str, Any] = {}
    stack = [top]
    # The outermost brackets are those of the message itself.
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        raise ValueError(f"not swanctl's raw output: {body[:60]}")
    body, at = body[1:-1], 0
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None or match.end() == at:
            raise ValueError(f"not swanctl's raw output: {body[at : at + 60]}")
        at = match.end()
        if match["section"] is not None:
            section: dict[str, Any] = {}
            stack[-1][match["section"]] = section
            stack.append(section)
        elif match["end"] is not None:
            stack.pop()
            if not stack:
                raise ValueError("not swanctl's raw output: an additional bracket")
        else:
            stack[-1][match["key"]] = match["list"].split() if match["list"] is not None else match["value"]
    return top


def last_failures(log: str) -> dict[str, tuple[str, str]]:
    """Return by connection the cause and the line of the last failure in charon's log, if no success followed it."""
    current, failures, is_refused = "", dict[str, tuple[str, str]](), False
    for line in log.splitlines():
        attempt = _ATTEMPT.search(line)
        if attempt:
            current, is_refused = attempt[1] or attempt[2], False
        established = re.search(r"CHILD_SA (\S+?)\{\d+\} established", line)
        if established:
            failures.pop(established[1], None)
        cause = next((cause for words, cause in _FAILURES.items() if words in line), None)
        # The first of an attempt is about the certificate that was received; charon then tries others that it knows.
        is_certificate = cause is not None and cause.startswith("certificate-")
        if cause is not None and current and not (is_certificate and is_refused):
            is_refused = is_certificate
            failures[current] = (cause, line.strip())
    return failures


def _association(name: str, values: Mapping[str, Any]) -> Association:
    children = [child for child in values.get("child-sas", {}).values() if child.get("state") == "INSTALLED"]
    return Association(
        name=name,
        state=str(values.get("state", "")),
        remote=str(values.get("remote-host", "")),
        installed=bool(children),
        nat=any(values.get(key) == "yes" for key in ("nat-local", "nat-remote")),
        encapsulated=any(child.get("encap") == "yes" for child in children),
        bytes_in=sum(int(child.get("bytes-in", 0)) for child in children),
        bytes_out=sum(int(child.get("bytes-out", 0)) for child in children),
    )
