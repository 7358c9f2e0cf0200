"""Access keys that may call the emulated AWS. Key ids are checked, signatures are not."""

import configparser
import os
import secrets
import string
import threading
from dataclasses import dataclass
from pathlib import Path

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
    """A random pair: AKIA keys are for ever, ASIA keys belong to a session."""
    key = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return KeyPair(key, secrets.token_urlsafe(30), secrets.token_urlsafe(96) if session else "")


class AccessKeys:
    """The keys known to the emulator. When not `required`, any key is accepted, as moto does."""

    def __init__(self, *, required: bool) -> None:
        self.required = required
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def add(self, pair: KeyPair) -> KeyPair:
        with self._lock:
            self._known.add(pair.access_key_id)
        return pair

    def check(self, access_key: str | None, service: str) -> None:
        """Raise for a request that is not signed, or signed with an unknown key."""
        if not self.required:
            return
        if access_key is None:
            if service == "s3":
                raise CloudError("AccessDenied", "Access Denied", 403)
            raise CloudError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
        if access_key not in self._known and not _issued_by_moto(access_key):
            raise unknown_key(service)


def unknown_key(service: str) -> CloudError:
    """Return each service's error for an unknown access key."""
    if service == "s3":
        message = "The AWS Access Key Id you provided does not exist in our records."
        return CloudError("InvalidAccessKeyId", message, 403)
    if service == "ec2":
        return CloudError("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
    return CloudError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)


def _issued_by_moto(access_key: str) -> bool:
    """Keys of IAM users, and of sessions that AssumeRole made."""
    sts, iam = moto.backends.get_backend("sts")[ACCOUNT]["aws"], moto.backends.get_backend("iam")[ACCOUNT]["aws"]
    if sts.get_assumed_role_from_access_key(access_key) is not None:
        return True
    return any(access_key == key.access_key_id for user in iam.users.values() for key in user.access_keys)


def kept_pair(path: Path) -> KeyPair:
    """Return the key pair of a shared-credentials file (profile default); create the file with mode 0600 if it is missing."""
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
