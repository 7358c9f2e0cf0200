"""IAM Roles Anywhere (moto has none): trust anchors and profiles. create_session.py issues credentials.

Source: IAM Roles Anywhere API Reference; its User Guide, "The IAM Roles Anywhere trust model" (requirements for a CA
certificate) and "Notifications" (45 days by default).
"""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.hashes import MD5, SHA1

from landbridge.certificates import DEFAULT_RULES
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server import request_validation
from sandbox.aws_emulator.server.errors import CloudError

SERVICE = "rolesanywhere"
Bag = dict[str, Any]
#: By resource kind: member of an answer, and part of the ARN.
_KINDS = {"TrustAnchor": ("trustAnchor", "trust-anchor"), "Profile": ("profile", "profile")}
_EVENTS = ("CA_CERTIFICATE_EXPIRY", "END_ENTITY_CERTIFICATE_EXPIRY")
_DEFAULT_DAYS = 45
_PAGE = 100


def answer(emulator: EmulatorState, region: str, environ: Mapping[str, Any]) -> Bag:
    """Return the answer of a request. Raise CloudError."""
    name, request = request_validation.rest(SERVICE, environ, "ValidationException")
    with emulator.lock:
        if name in _OTHERS:
            return _OTHERS[name](emulator, region, request)
        match = re.fullmatch(r"(Create|Get|List|Update|Enable|Disable|Delete)(TrustAnchor|Profile)s?", name)
        if match is not None:
            return _PLAIN[match[1]](emulator, region, match[2], request)
    raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {SERVICE}:{name}.")


def _create(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    word, arn_part = _KINDS[kind]
    _check(region, request)
    id_, now = str(uuid.uuid4()), emulator.now().isoformat()
    arn = f"arn:aws:{SERVICE}:{region}:{ACCOUNT}:{arn_part}/{id_}"
    item = {key: value for key, value in request.items() if key != "tags"}
    item |= {f"{word}Id": id_, f"{word}Arn": arn, "createdAt": now, "updatedAt": now}
    item["enabled"] = request.get("enabled", False)
    if kind == "TrustAnchor":
        item["notificationSettings"] = _notifications(request.get("notificationSettings", []))
    else:
        item |= {"durationSeconds": request.get("durationSeconds", 3600), "createdBy": f"arn:aws:iam::{ACCOUNT}:root"}
        item["attributeMappings"] = [_mapping(field, rules) for field, rules in DEFAULT_RULES.items()]
        item["requireInstanceProperties"] = request.get("requireInstanceProperties", False)
    emulator.anywhere[arn] = {"kind": kind, "region": region, "tags": request.get("tags", []), "is": item}
    return {word: item}


def _check(region: str, request: Bag) -> None:
    """Raise CloudError if a role or policy does not exist, or if a trusted certificate is not a CA certificate."""
    source = request.get("source", {})
    data = source.get("sourceData", {})
    required = {"CERTIFICATE_BUNDLE": "x509CertificateData", "AWS_ACM_PCA": "acmPcaArn"}.get(source.get("sourceType"))
    if source and (required is None or set(data) != {required}):
        raise CloudError("ValidationException", f"Source data does not match source type {source.get('sourceType')}.")
    if "x509CertificateData" in data:
        _check_ca_certificates(data["x509CertificateData"])
    for arn in request.get("roleArns", []):
        if principals.role(region, arn) is None:
            raise CloudError("ValidationException", f"Role '{arn}' does not exist.")
    for arn in request.get("managedPolicyArns", []):
        if principals.policy(region, arn) is None:
            raise CloudError("ValidationException", f"Policy '{arn}' does not exist.")


def _check_ca_certificates(text: str) -> None:
    """Raise CloudError unless all certificates are X.509 v3, may sign certificates, and have a safe hash."""
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


def _notifications(settings: list[Bag]) -> list[Bag]:
    configured = {row["event"]: {"channel": "ALL", "threshold": _DEFAULT_DAYS, **row} for row in settings}
    default = {"enabled": True, "threshold": _DEFAULT_DAYS, "channel": "ALL"}
    rows = [
        configured.get(event, {**default, "event": event, "configuredBy": "rolesanywhere.amazonaws.com"})
        for event in _EVENTS
    ]
    return [{"configuredBy": ACCOUNT, **row} for row in rows]


def _resource(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    id_ = str(request[f"{_KINDS[kind][0]}Id"])
    for arn, resource in emulator.anywhere.items():
        if id_ in (arn, arn.rpartition("/")[2]) and (resource["kind"], resource["region"]) == (kind, region):
            return resource
    raise CloudError("ResourceNotFoundException", f"{kind} {id_} not found", 404)


def _get(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    return {_KINDS[kind][0]: _resource(emulator, region, kind, request)["is"]}


def _list(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    items = [
        resource["is"]
        for resource in emulator.anywhere.values()
        if (resource["kind"], resource["region"]) == (kind, region)
    ]
    start, size = int(request.get("nextToken", 0)), request.get("pageSize", _PAGE)
    next_page = {"nextToken": str(start + size)} if len(items) > start + size else {}
    return {f"{_KINDS[kind][0]}s": items[start : start + size], **next_page}


def _update(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    resource = _resource(emulator, region, kind, request)
    _check(region, request)
    changes = {key: value for key, value in request.items() if key != f"{_KINDS[kind][0]}Id"}
    resource["is"].update(changes, updatedAt=emulator.now().isoformat())
    return {_KINDS[kind][0]: resource["is"]}


def _set_enabled(on: bool) -> Callable[[EmulatorState, str, str, Bag], Bag]:
    def act(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
        resource = _resource(emulator, region, kind, request)
        resource["is"]["enabled"] = on
        return {_KINDS[kind][0]: resource["is"]}

    return act


def _delete(emulator: EmulatorState, region: str, kind: str, request: Bag) -> Bag:
    """Delete a trust anchor or profile. No dependency prevents it; issued credentials stay valid until they expire."""
    word = _KINDS[kind][0]
    item = _resource(emulator, region, kind, request)["is"]
    del emulator.anywhere[item[f"{word}Arn"]]
    return {word: item}


def _notify(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    resource = _resource(emulator, region, "TrustAnchor", request)
    resource["is"]["notificationSettings"] = _notifications(request["notificationSettings"])
    return {"trustAnchor": resource["is"]}


def _mapping(field: str, specifiers: Iterable[str]) -> Bag:
    return {"certificateField": field, "mappingRules": [{"specifier": specifier} for specifier in specifiers]}


def _change_mapping(emulator: EmulatorState, region: str, request: Bag, specifiers: Sequence[str]) -> Bag:
    """Replace the mapping rules of one field of a profile; without a specifier there is no rule for it."""
    profile, field = _resource(emulator, region, "Profile", request)["is"], request["certificateField"]
    others = [row for row in profile["attributeMappings"] if row["certificateField"] != field]
    profile["attributeMappings"] = [*others, *([_mapping(field, specifiers)] if specifiers else [])]
    return {"profile": profile}


def _put_mapping(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    return _change_mapping(emulator, region, request, [rule["specifier"] for rule in request["mappingRules"]])


def _delete_mapping(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    profile, dropped = _resource(emulator, region, "Profile", request)["is"], request.get("specifiers")
    rules = [
        rule["specifier"]
        for row in profile["attributeMappings"]
        if row["certificateField"] == request["certificateField"]
        for rule in row["mappingRules"]
    ]
    return _change_mapping(emulator, region, request, [rule for rule in rules if dropped and rule not in dropped])


def _tagged_resource(emulator: EmulatorState, request: Bag) -> Bag:
    if request["resourceArn"] not in emulator.anywhere:
        raise CloudError("ResourceNotFoundException", f"Resource {request['resourceArn']} not found", 404)
    return emulator.anywhere[request["resourceArn"]]


def _tag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    resource = _tagged_resource(emulator, request)
    new_keys = {tag["key"] for tag in request["tags"]}
    resource["tags"] = [tag for tag in resource["tags"] if tag["key"] not in new_keys] + request["tags"]
    return {}


def _untag(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    resource = _tagged_resource(emulator, request)
    resource["tags"] = [tag for tag in resource["tags"] if tag["key"] not in request["tagKeys"]]
    return {}


def _tags(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    return {"tags": _tagged_resource(emulator, request)["tags"]}


_PLAIN: dict[str, Callable[[EmulatorState, str, str, Bag], Bag]] = {
    "Create": _create,
    "Get": _get,
    "List": _list,
    "Update": _update,
    "Enable": _set_enabled(True),
    "Disable": _set_enabled(False),
    "Delete": _delete,
}
_OTHERS: dict[str, Callable[[EmulatorState, str, Bag], Bag]] = {
    "PutNotificationSettings": _notify,
    "PutAttributeMapping": _put_mapping,
    "DeleteAttributeMapping": _delete_mapping,
    "TagResource": _tag,
    "UntagResource": _untag,
    "ListTagsForResource": _tags,
}
