"""Authorization of requests that are signed with the keys of a role's session: IAM's decision from the role's policies.

Requests with keys of a user or of the operator are those of an administrator. For S3, Secrets Manager, STS, KMS, and starts and stops of instances the
resource and the conditions count. For the other services it counts only whether a statement permits the action on some
resource: the emulated AWS never refuses a request there that AWS would permit.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote

import moto.backends

from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.ops.iam.match import matches
from sandbox.aws_emulator.identity import principals, s3_actions
from sandbox.aws_emulator.identity.iam_actions import access_denied
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Environ = dict[str, Any]
#: IAM's prefixes of services that sign requests with another name. Source: Service Authorization Reference.
_PREFIXES = {"monitoring": "cloudwatch", "tagging": "tag"}
#: Actions that need no permission. Source: STS API Reference, GetCallerIdentity.
_FREE = {"sts:GetCallerIdentity"}
#: Source: STS API Reference, AssumeRole: with the credentials of a role (role chaining) one hour at most.
CHAINED_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Session:
    """Session of a role, with the condition keys of its credentials. `expires` is None for those of an instance."""

    role: Any
    name: str
    context: Mapping[str, str] = field(default_factory=dict)
    expires: datetime | None = None

    @property
    def arn(self) -> str:
        """Return the ARN of the session."""
        return f"arn:aws:sts::{ACCOUNT}:assumed-role/{self.role.name}/{self.name}"


@dataclass(frozen=True, slots=True)
class _Need:
    """Permission that a request needs."""

    action: str
    resource: str
    context: Mapping[str, str]
    resource_policy: Document | None = None
    resource_decides: bool = False


def session_of(access_key: str | None, instance_sessions: Mapping[str, tuple[str, str]], region: str) -> Session | None:
    """Return the session that an access key belongs to: of an instance (role, instance's ARN), or of AssumeRole.

    Raises CloudError if the role no longer exists.
    """
    if access_key is not None and access_key in instance_sessions:
        role_arn, instance_arn = instance_sessions[access_key]
        role = principals.role(region, role_arn)
        name, context, expires = instance_arn.rpartition("/")[2], {"ec2:SourceInstanceARN": instance_arn}, None
    else:
        assumed = moto.backends.get_backend("sts")[ACCOUNT]["aws"].get_assumed_role_from_access_key(access_key or "")
        if assumed is None:
            return None
        role, name, context = principals.role(region, assumed.role_arn), assumed.session_name, {}
        expires = assumed.expiration.replace(tzinfo=UTC)
    if role is None:
        raise CloudError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)
    return Session(role, name, context, expires)


def authorize(session: Session, service: str, action: str, region: str, environ: Environ) -> None:
    """Raise CloudError if IAM denies a request of a session, or if the session has expired."""
    if session.expires is not None and session.expires <= datetime.now(UTC):
        raise CloudError("ExpiredToken", "The security token included in the request is expired", 403)
    is_json = bool(environ.get("HTTP_X_AMZ_TARGET"))
    needs = _power if action.rpartition(":")[2] in _POWER_ACTIONS and service == "ec2" else _NEEDS.get(service)
    if needs is None:
        _, _, name = action.rpartition(":")
        prefix = _PREFIXES.get(service, service)
        # An operation of a REST service may be unknown: then only its method is known.
        if not name.isupper() and not _on_some_resource(session, f"{prefix}:{name}"):
            raise access_denied(service, session.arn, f"{prefix}:{name}", is_json)
        return
    for need in needs(action, region, environ):
        if need.action in _FREE:
            continue
        request = Request(
            session.role.arn, need.action, need.resource, {**session.context, **need.context}, session=session.arn
        )
        limit = session.role.permissions_boundary_arn
        boundary = principals.policy(region, limit) if limit else None
        policies = Policies(
            _identity(session),
            need.resource_policy,
            boundary=None if boundary is None else _document("boundary", str(boundary.document)),
            resource_decides=need.resource_decides,
        )
        if not evaluate(request, policies).allowed:
            raise access_denied(service, session.arn, need.action, is_json, need.resource)


def _identity(session: Session) -> tuple[Document, ...]:
    inline = tuple(_document(name, text) for name, text in dict(session.role.policies).items())
    managed = tuple(_document(arn, str(policy.document)) for arn, policy in dict(session.role.managed_policies).items())
    return (*inline, *managed)


@lru_cache(maxsize=1024)
def _document(name: str, text: str) -> Document:
    """Read a policy, which the query protocol may have encoded."""
    return Document.of(name, text if text.lstrip().startswith("{") else unquote(text))


def _on_some_resource(session: Session, action: str) -> bool:
    """Return whether a statement permits the action on a resource, and none denies it on all without a condition."""

    def names(statement: Mapping[str, Any]) -> bool:
        patterns = statement.get("Action", statement.get("NotAction", []))
        listed = patterns if isinstance(patterns, list) else [patterns]
        return any(matches(pattern, action, {}, ignore_case=True) for pattern in listed) is ("Action" in statement)

    statements = [row for document in _identity(session) for row in document.statements if names(row)]
    denied = any(
        row["Effect"] == "Deny" and row.get("Resource") in ("*", ["*"]) and not row.get("Condition")
        for row in statements
    )
    return not denied and any(row["Effect"] == "Allow" for row in statements)


def _s3(action: str, region: str, environ: Environ) -> Iterator[_Need]:
    """Yield what S3 checks: the action on the bucket or object, and the use of the bucket's KMS key.

    S3 reports that an object does not exist only to callers who may list the bucket.
    Source: S3 API Reference, GetObject and HeadObject, "Permissions", 2026-11-25.
    """
    buckets = moto.backends.get_backend("s3")[ACCOUNT]["aws"].buckets
    for s3_action, bucket_name, key in s3_actions.permissions(environ):
        bucket = buckets.get(bucket_name)
        policy = bucket.policy if bucket is not None else None
        text = policy.decode() if isinstance(policy, bytes) else policy
        resource = f"arn:aws:s3:::{bucket_name}{f'/{key}' if key is not None else ''}" if bucket_name else "*"
        document = None if not text else _document("bucket policy", text)
        yield _Need(f"s3:{s3_action}", resource, s3_actions.context(environ), document)
        if s3_action == "GetObject" and bucket is not None and key not in bucket.keys:
            yield _Need("s3:ListBucket", f"arn:aws:s3:::{bucket_name}", s3_actions.context(environ), document)
        key_use = s3_actions.key_use(s3_action, environ)
        key_arn = s3_actions.default_key(bucket) if key_use else None
        if key_use and key_arn:
            yield from _kms_key(key_use, key_arn, {"kms:ViaService": f"s3.{region}.amazonaws.com"})


def _kms_key(action: str, key_arn: str, context: Mapping[str, str]) -> Iterator[_Need]:
    region = key_arn.split(":")[3]
    key = moto.backends.get_backend("kms")[ACCOUNT][region].keys.get(key_arn.rpartition("/")[2])
    policy = None if key is None else _document("key policy", str(key.policy))
    yield _Need(action, key_arn, context, policy, resource_decides=True)


def _kms(action: str, region: str, environ: Environ) -> Iterator[_Need]:
    id_ = str(_json(environ).get("KeyId", "*"))
    arn = id_ if id_.startswith("arn:") else f"arn:aws:kms:{region}:{ACCOUNT}:key/{id_}"
    yield from _kms_key(f"kms:{action}", arn, {})


def _secrets(action: str, region: str, environ: Environ) -> Iterator[_Need]:
    id_ = str(_json(environ).get("SecretId", "*"))
    secrets = moto.backends.get_backend("secretsmanager")[ACCOUNT][region].secrets
    stored = next((entry for entry in secrets.values() if id_ in (entry.name, entry.arn)), None)
    context = {f"aws:ResourceTag/{tag['Key']}": tag["Value"] for tag in (stored.tags or [])} if stored else {}
    yield _Need(f"secretsmanager:{action}", id_ if stored is None else stored.arn, context)


def _sts(action: str, region: str, environ: Environ) -> Iterator[_Need]:
    body = environ["wsgi.input"]
    form = parse_qs(body.getvalue().decode()) if isinstance(body, io.BytesIO) else {}
    if action != "AssumeRole":
        yield _Need(f"sts:{action}", "*", {})
        return
    arn = form["RoleArn"][0]
    role = principals.role(region, arn)
    if role is None:
        # As in AWS, the answer for a role that does not exist is that of one that may not be assumed.
        yield _Need("sts:AssumeRole", arn, {}, Document("no role", ()), resource_decides=True)
        return
    seconds = int(form.get("DurationSeconds", ["3600"])[0])
    if seconds > CHAINED_SECONDS:
        message = "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining"
        raise CloudError("ValidationError", message)
    context = {"sts:RoleSessionName": form["RoleSessionName"][0]}
    trust = role.assume_role_policy_document
    document = _document("trust", trust if isinstance(trust, str) else json.dumps(trust))
    actions = ["sts:AssumeRole"]
    if "SourceIdentity" in form:
        actions.append("sts:SetSourceIdentity")
        context["sts:SourceIdentity"] = form["SourceIdentity"][0]
    for sts_action in actions:
        yield _Need(sts_action, role.arn, context, document, resource_decides=True)


def _power(action: str, region: str, environ: Environ) -> Iterator[_Need]:
    """Yield what EC2 checks for each instance that is started or stopped: the action on it, with its tags.

    Source: Service Authorization Reference, "Actions defined by Amazon EC2", StartInstances and StopInstances (2026-11-26).
    """
    body, name = environ["wsgi.input"], action.rpartition(":")[2]
    form = parse_qs(body.getvalue().decode()) if isinstance(body, io.BytesIO) else {}
    backend = moto.backends.get_backend("ec2")[ACCOUNT][region]
    for id_ in (values[0] for key, values in form.items() if key.startswith("InstanceId.")):
        tags = {tag["key"]: tag["value"] for tag in backend.describe_tags(filters={"resource-id": [id_]})}
        context = {f"aws:ResourceTag/{key}": value for key, value in tags.items()}
        yield _Need(f"ec2:{name}", f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{id_}", context)


_POWER_ACTIONS = ("StartInstances", "StopInstances")
_NEEDS: dict[str, Callable[[str, str, Environ], Iterator[_Need]]] = {
    "s3": _s3,
    "kms": _kms,
    "secretsmanager": _secrets,
    "sts": _sts,
}


def _json(environ: Environ) -> dict[str, Any]:
    """Return a JSON body; the body can still be read afterwards."""
    text = environ["wsgi.input"].read()
    environ["wsgi.input"] = io.BytesIO(text)
    try:
        return dict(json.loads(text or b"{}"))
    except ValueError:
        return {}
