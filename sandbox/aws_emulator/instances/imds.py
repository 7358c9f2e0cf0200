"""Instance metadata service (IMDSv2 only): identifies an instance by its source address."""

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import moto.backends

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity.access_keys import AccessKeys, new_pair
from sandbox.aws_emulator.instances import moto_instances as account
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT

MAX_TTL_SECONDS = 21_600
Answer = tuple[int, bytes]
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
}


def caller(peer: str) -> tuple[Any, Any] | None:
    """Return backend and instance of `peer`.

    On the loopback, 127.b.c.d is the instance whose address ends in .b.c.d.
    """
    backend_and_instance = account.instance_at(peer)
    if backend_and_instance or not peer.startswith("127."):
        return backend_and_instance
    ending = peer[3:]
    for backend in account.ec2_backends():
        for instance in backend.all_instances():
            if instance.state in account.ALIVE and str(instance.private_ip).endswith(ending):
                return backend, instance
    return None


class MetadataService:
    """WSGI application of the metadata service. A token is bound to the instance that requested it."""

    def __init__(self, emulator: EmulatorState, keys: AccessKeys) -> None:
        self._emulator, self._keys = emulator, keys
        self._tokens: dict[str, tuple[str, float]] = {}
        self._credentials: dict[str, dict[str, str]] = {}
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        status, body = self._answer(environ)
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), ("Server", "EC2ws")]
        if environ.get("PATH_INFO") == "/latest/api/token" and status == 200:
            headers.append(
                ("X-aws-ec2-metadata-token-ttl-seconds", environ["HTTP_X_AWS_EC2_METADATA_TOKEN_TTL_SECONDS"])
            )
        start(f"{status} {REASONS[status]}", headers)
        return [body]

    def _answer(self, environ: dict[str, Any]) -> Answer:
        backend_and_instance = caller(environ.get("REMOTE_ADDR", ""))
        if backend_and_instance is None:
            return 404, b"no instance has this address"
        backend, instance = backend_and_instance
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if path == "/latest/api/token":
            return self._token(environ, instance) if method == "PUT" else (405, b"")
        if method != "GET":
            return 405, b""
        if not self._known(environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN", ""), instance.id):
            return 401, b""
        value = self._lookup(path, backend, instance)
        return (404, b"") if value is None else (200, value if isinstance(value, bytes) else value.encode())

    def _token(self, environ: dict[str, Any], instance: Any) -> Answer:
        if environ.get("HTTP_X_FORWARDED_FOR"):
            return 403, b""  # a proxy must not be able to fetch tokens
        text = environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN_TTL_SECONDS", "")
        if not text.isdigit() or not 1 <= int(text) <= MAX_TTL_SECONDS:
            return 400, b""
        token = secrets.token_urlsafe(40)
        now = time.monotonic()
        with self._lock:
            self._tokens = {key: value for key, value in self._tokens.items() if value[1] > now}
            self._tokens[token] = (instance.id, now + int(text))
        return 200, token.encode()

    def _known(self, token: str, instance_id: str) -> bool:
        owner, until = self._tokens.get(token, ("", 0.0))
        return owner == instance_id and time.monotonic() < until

    def _lookup(self, path: str, backend: Any, instance: Any) -> str | bytes | None:
        if not path.startswith("/latest/"):
            return None
        relative_path = path[len("/latest/") :].rstrip("/")
        if relative_path == "user-data":
            return _user_data(instance)
        if relative_path == "dynamic/instance-identity/document":
            return json.dumps(_document(backend, instance), indent=2)
        if not relative_path.startswith("meta-data"):
            return None
        tree = self._tree(backend, instance)
        metadata_path = relative_path[len("meta-data") :].lstrip("/")
        if metadata_path in tree:
            return tree[metadata_path]
        prefix = f"{metadata_path}/" if metadata_path else ""
        below = {key[len(prefix) :] for key in tree if key.startswith(prefix)}
        names = {name.partition("/")[0] + ("/" if "/" in name else "") for name in below}
        return "\n".join(sorted(names)) if names else None

    def _tree(self, backend: Any, instance: Any) -> dict[str, str]:
        nic = instance.nics[0]
        mac = f"network/interfaces/macs/{nic.mac_address}"
        tree = {
            "ami-id": instance.image_id,
            "ami-launch-index": str(instance.ami_launch_index),
            "hostname": instance.private_dns_name,
            "instance-action": "none",
            "instance-id": instance.id,
            "instance-life-cycle": instance.lifecycle or "on-demand",
            "instance-type": instance.instance_type,
            "local-hostname": instance.private_dns_name,
            "local-ipv4": instance.private_ip,
            "mac": nic.mac_address,
            f"{mac}/local-ipv4s": instance.private_ip,
            f"{mac}/subnet-id": instance.subnet_id,
            f"{mac}/subnet-ipv4-cidr-block": str(nic.subnet.cidr),
            f"{mac}/vpc-id": instance.vpc_id,
            "placement/availability-zone": instance.availability_zone,
            "placement/availability-zone-id": nic.subnet.availability_zone_id,
            "placement/region": backend.region_name,
            "services/domain": "amazonaws.com",
            "services/partition": "aws",
        }
        if instance.placement.group_name:
            tree["placement/group-name"] = instance.placement.group_name
        if instance.metadata_options.instance_metadata_tags == "enabled":
            tree |= {f"tags/instance/{key}": value for key, value in account.tags_of(instance).items()}
        if instance.id in self._emulator.notices:
            at = self._emulator.notices[instance.id]
            tree["spot/instance-action"] = json.dumps({"action": "terminate", "time": at})
            tree["spot/termination-time"] = at
        if instance.id in self._emulator.rebalance:
            notice = {"noticeTime": self._emulator.rebalance[instance.id]}
            tree["events/recommendations/rebalance"] = json.dumps(notice)
        return tree | self._identity(instance, backend.region_name)

    def _identity(self, instance: Any, region: str) -> dict[str, str]:
        """Return the entries of the role's credentials; the credentials stay the same while they are valid."""
        profile_arn = (getattr(instance, "iam_instance_profile", None) or {}).get("Arn")
        if not profile_arn:
            return {}
        profiles = moto.backends.get_backend("iam")[ACCOUNT]["aws"].instance_profiles.values()
        role = next((role for profile in profiles if profile.arn == profile_arn for role in profile.roles), None)
        if role is None:
            return {}
        with self._lock:
            if instance.id not in self._credentials:
                arn = f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{instance.id}"
                pair = self._keys.add_instance(new_pair("ASIA", session=True), role.arn, arn)
                self._credentials[instance.id] = {
                    "Code": "Success",
                    "LastUpdated": _timestamp(0),
                    "Type": "AWS-HMAC",
                    "AccessKeyId": pair.access_key_id,
                    "SecretAccessKey": pair.secret_access_key,
                    "Token": pair.session_token,
                    "Expiration": _timestamp(6 * 3600),
                }
        info = {"Code": "Success", "LastUpdated": _timestamp(0), "InstanceProfileArn": profile_arn}
        credentials = {f"iam/security-credentials/{role.name}": json.dumps(self._credentials[instance.id])}
        return credentials | {"iam/info": json.dumps(info)}


def _user_data(instance: Any) -> bytes | None:
    return base64.b64decode(str(instance.user_data)) if instance.user_data else None


def _document(backend: Any, instance: Any) -> dict[str, Any]:
    return {
        "accountId": ACCOUNT,
        "architecture": instance.architecture,
        "availabilityZone": instance.availability_zone,
        "imageId": instance.image_id,
        "instanceId": instance.id,
        "instanceType": instance.instance_type,
        "pendingTime": instance.launch_time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "privateIp": instance.private_ip,
        "region": backend.region_name,
        "version": "2017-09-30",
    }


def _timestamp(offset: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))
