"""IAM Roles Anywhere (moto has none): trust anchors and profiles. It issues no credentials.

Source: IAM Roles Anywhere API Reference; its User Guide, "The IAM Roles Anywhere trust model" (requirements for a CA certificate)
and "Notifications" (45 days where nothing else is asked).
"""

import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.hashes import MD5, SHA1

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server import request_validation as judged
from sandbox.aws_emulator.server.errors import CloudError

SERVICE = "rolesanywhere"
Bag = dict[str, Any]
#: Kinds: member of an answer, and part of the ARN.
_KINDS = {"TrustAnchor": ("trustAnchor", "trust-anchor"), "Profile": ("profile", "profile")}
_EVENTS = ("CA_CERTIFICATE_EXPIRY", "END_ENTITY_CERTIFICATE_EXPIRY")
_DEFAULT_DAYS = 45
_PAGE = 100


def answer(world: EmulatorState, region: str, environ: Mapping[str, Any]) -> Bag:
    """Answer one request. Raises CloudError."""
    name, request = judged.rest(SERVICE, environ, "ValidationException")
    with world.lock:
        if name in _OTHERS:
            return _OTHERS[name](world, region, request)
        match = re.fullmatch(r"(Create|Get|List|Update|Enable|Disable|Delete)(TrustAnchor|Profile)s?", name)
        if match is not None:
            return _PLAIN[match[1]](world, region, match[2], request)
    raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {SERVICE}:{name}.")


def _create(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    word, part = _KINDS[kind]
    _check(region, request)
    own, now = str(uuid.uuid4()), world.now().isoformat()
    arn = f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:{part}/{own}"
    made = {key: value for key, value in request.items() if key != "tags"}
    made |= {f"{word}Id": own, f"{word}Arn": arn, "createdAt": now, "updatedAt": now}
    made["enabled"] = request.get("enabled", False)
    if kind == "TrustAnchor":
        made["notificationSettings"] = _notifications(request.get("notificationSettings", []))
    else:
        made |= {"durationSeconds": request.get("durationSeconds", 3600), "createdBy": f"arn:aws:iam::{ACCOUNT}:root"}
        made["requireInstanceProperties"] = request.get("requireInstanceProperties", False)
    world.anywhere[arn] = {"kind": kind, "region": region, "tags": request.get("tags", []), "is": made}
    return {word: made}


def _check(region: str, request: Bag) -> None:
    """Raise if a named role does not exist, or if a trusted certificate is no CA."""
    source = request.get("source", {})
    data = source.get("sourceData", {})
    needs = {"CERTIFICATE_BUNDLE": "x509CertificateData", "AWS_ACM_PCA": "acmPcaArn"}.get(source.get("sourceType"))
    if source and (needs is None or set(data) != {needs}):
        raise CloudError("ValidationException", f"Source data does not match source type {source.get('sourceType')}.")
    if "x509CertificateData" in data:
        _authorities(data["x509CertificateData"])
    for arn in request.get("roleArns", []):
        if principals.role(region, arn) is None:
            raise CloudError("ValidationException", f"Role '{arn}' does not exist.")
    for arn in request.get("managedPolicyArns", []):
        if principals.policy(region, arn) is None:
            raise CloudError("ValidationException", f"Policy '{arn}' does not exist.")


def _authorities(text: str) -> None:
    """Certificates of X.509's third version that may sign others, by a hash that still holds."""
    try:
        certificates = x509.load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise CloudError("ValidationException", f"Could not parse the certificate bundle: {error}") from error
    for certificate in certificates:
        try:
            basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
            usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
        except x509.ExtensionNotFound as error:
            raise CloudError("ValidationException", "Incorrect basic constraints for CA certificate") from error
        if certificate.version is not x509.Version.v3 or not basic.ca or not usage.key_cert_sign:
            raise CloudError("ValidationException", "Incorrect basic constraints for CA certificate")
        if isinstance(certificate.signature_hash_algorithm, MD5 | SHA1):
            raise CloudError("ValidationException", "The certificate's signature algorithm is not supported")


def _notifications(asked: list[Bag]) -> list[Bag]:
    mine = {one["event"]: {"channel": "ALL", "threshold": _DEFAULT_DAYS, **one} for one in asked}
    default = {"enabled": True, "threshold": _DEFAULT_DAYS, "channel": "ALL"}
    found = [
        mine.get(event, {**default, "event": event, "configuredBy": "rolesanywhere.amazonaws.com"}) for event in _EVENTS
    ]
    return [{"configuredBy": ACCOUNT, **one} for one in found]


def _of(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    own = str(request[f"{_KINDS[kind][0]}Id"])
    for arn, one in world.anywhere.items():
        if own in (arn, arn.rpartition("/")[2]) and (one["kind"], one["region"]) == (kind, region):
            return one
    raise CloudError("ResourceNotFoundException", f"{kind} {own} not found", 404)


def _get(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    return {_KINDS[kind][0]: _of(world, region, kind, request)["is"]}


def _list(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    found = [one["is"] for one in world.anywhere.values() if (one["kind"], one["region"]) == (kind, region)]
    start, size = int(request.get("nextToken", 0)), request.get("pageSize", _PAGE)
    more = {"nextToken": str(start + size)} if len(found) > start + size else {}
    return {f"{_KINDS[kind][0]}s": found[start : start + size], **more}


def _update(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    one = _of(world, region, kind, request)
    _check(region, request)
    new = {key: value for key, value in request.items() if key != f"{_KINDS[kind][0]}Id"}
    one["is"].update(new, updatedAt=world.now().isoformat())
    return {_KINDS[kind][0]: one["is"]}


def _switch(on: bool) -> Callable[[EmulatorState, str, str, Bag], Bag]:
    def act(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
        one = _of(world, region, kind, request)
        one["is"]["enabled"] = on
        return {_KINDS[kind][0]: one["is"]}

    return act


def _delete(world: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    """Delete a trust anchor or profile; no dependency prevents it, and issued credentials stay valid until they expire."""
    word = _KINDS[kind][0]
    one = _of(world, region, kind, request)["is"]
    del world.anywhere[one[f"{word}Arn"]]
    return {word: one}


def _notify(world: EmulatorState, region: str, request: Bag) -> Bag:
    one = _of(world, region, "TrustAnchor", request)
    one["is"]["notificationSettings"] = _notifications(request["notificationSettings"])
    return {"trustAnchor": one["is"]}


def _bearer(world: EmulatorState, request: Bag) -> Bag:
    if request["resourceArn"] not in world.anywhere:
        raise CloudError("ResourceNotFoundException", f"Resource {request['resourceArn']} not found", 404)
    return world.anywhere[request["resourceArn"]]


def _tag(world: EmulatorState, region: str, request: Bag) -> Bag:
    one = _bearer(world, request)
    new = {tag["key"] for tag in request["tags"]}
    one["tags"] = [tag for tag in one["tags"] if tag["key"] not in new] + request["tags"]
    return {}


def _untag(world: EmulatorState, region: str, request: Bag) -> Bag:
    one = _bearer(world, request)
    one["tags"] = [tag for tag in one["tags"] if tag["key"] not in request["tagKeys"]]
    return {}


def _tags(world: EmulatorState, region: str, request: Bag) -> Bag:
    return {"tags": _bearer(world, request)["tags"]}


_PLAIN: dict[str, Callable[[EmulatorState, str, str, Bag], Bag]] = {
    "Create": _create,
    "Get": _get,
    "List": _list,
    "Update": _update,
    "Enable": _switch(True),
    "Disable": _switch(False),
    "Delete": _delete,
}
_OTHERS: dict[str, Callable[[EmulatorState, str, Bag], Bag]] = {
    "PutNotificationSettings": _notify,
    "TagResource": _tag,
    "UntagResource": _untag,
    "ListTagsForResource": _tags,
}
