"""Access keys of the emulated AWS. Key ids and the expiry of sessions are checked, signatures are not."""

import configparser
import os
import secrets
import string
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import moto.backends

from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

_ALPHABET = string.ascii_uppercase + "234567"


@dataclass(frozen=True)
class KeyPair:
    access_key_id: str
    secret_access_key: str
    session_token: str = ""


def new_pair(prefix: str = "AKIA", *, session: bool = False) -> KeyPair:
    """Return a random pair: AKIA keys do not expire, ASIA keys belong to a session."""
    key = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return KeyPair(key, secrets.token_urlsafe(30), secrets.token_urlsafe(96) if session else "")


class AccessKeys:
    """Access keys that the emulator issued. If not `required`, any key is accepted, as in moto."""

    def __init__(self, *, required: bool) -> None:
        self.required = required
        self._known: set[str] = set()
        #: Role and instance of the keys of instances, as ARNs.
        self.instance_sessions: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def add(self, pair: KeyPair) -> KeyPair:
        with self._lock:
            self._known.add(pair.access_key_id)
        return pair

    def add_instance(self, pair: KeyPair, role_arn: str, instance_arn: str) -> KeyPair:
        """Register the keys that an instance gets for its role."""
        with self._lock:
            self.instance_sessions[pair.access_key_id] = (role_arn, instance_arn)
        return self.add(pair)

    def check(self, access_key: str | None, service: str, now: datetime) -> None:
        """Raise CloudError if a request is not signed, or signed with an unknown key or with the key of an expired
        session.
        """
        if not self.required:
            return
        if access_key is None:
            if service == "s3":
                raise CloudError("AccessDenied", "Access Denied", 403)
            raise CloudError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
        if access_key in self._known:
            return
        session = _session_of(access_key)
        if session is None and not _belongs_to_user(access_key):
            raise unknown_key(service)
        if session is not None and session.expiration.replace(tzinfo=UTC) <= now:
            raise expired_token(service)


def unknown_key(service: str) -> CloudError:
    """Return a service's error for an unknown access key."""
    if service == "s3":
        message = "The AWS Access Key Id you provided does not exist in our records."
        return CloudError("InvalidAccessKeyId", message, 403)
    if service == "ec2":
        return CloudError("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
    return CloudError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)


def expired_token(service: str) -> CloudError:
    """Return a service's error for the key of an expired session."""
    if service == "ec2":
        return CloudError("RequestExpired", "Request has expired.", 400)
    message = "The security token included in the request is expired"
    return CloudError("ExpiredToken" if service in ("s3", "sts", "iam") else "ExpiredTokenException", message)


def _session_of(access_key: str) -> Any | None:
    """Return the session of AssumeRole or CreateSession with this key, or None."""
    return moto.backends.get_backend("sts")[ACCOUNT]["aws"].get_assumed_role_from_access_key(access_key)


def _belongs_to_user(access_key: str) -> bool:
    """Return whether moto issued the key to an IAM user."""
    iam = moto.backends.get_backend("iam")[ACCOUNT]["aws"]
    return any(access_key == key.access_key_id for user in iam.users.values() for key in user.access_keys)


def stored_pair(path: Path) -> KeyPair:
    """Return the key pair of a shared-credentials file (profile default); create a missing file with mode 0600."""
    parser = configparser.ConfigParser(interpolation=None)
    if path.exists():
        parser.read(path)
        section = parser["default"]
        return KeyPair(section["aws_access_key_id"], section["aws_secret_access_key"])
    pair = new_pair()
    parser["default"] = {"aws_access_key_id": pair.access_key_id, "aws_secret_access_key": pair.secret_access_key}
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        parser.write(file)
    return pair
