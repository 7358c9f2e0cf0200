"""Calls as the owner of a pipeline: a child process with the owner's uid and groups, so that the owner's rights apply."""

import json
import os
import pwd
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Time after which a child ends: a file system of the owner may not answer.
CALL_SECONDS = 60


class OwnerError(Exception):
    """Call as an owner that failed; the message has the reason."""


@dataclass(frozen=True, slots=True)
class OwnerAccount:
    """Unix account of an owner."""

    name: str
    uid: int
    gid: int
    home: Path
    groups: tuple[int, ...]

    @property
    def is_self(self) -> bool:
        """Return whether this process has the account's uid already."""
        return self.uid == os.getuid()


def account_of(name: str, home: Path | None = None) -> OwnerAccount:
    """Return the account of a user, with another home if it is given. Raises OwnerError for an unknown user and root."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise OwnerError(f"there is no user {name} on this host") from None
    if entry.pw_uid == 0:
        raise OwnerError("root cannot own a pipeline")
    groups = tuple(os.getgrouplist(name, entry.pw_gid))
    return OwnerAccount(name, entry.pw_uid, entry.pw_gid, home or Path(entry.pw_dir), groups)


def call_as(account: OwnerAccount, function: Callable[[], Any]) -> Any:
    """Return the result of a function, which is plain data, from a child process of the account. Raises OwnerError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _child(account, function, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not answer:
        raise OwnerError(f"the files of {account.name} were not read: the process ended with status {status}")
    result: dict[str, Any] = json.loads(answer)
    if "fault" in result:
        raise OwnerError(f"{account.name}: {result['fault']}")
    return result["result"]


def _child(account: OwnerAccount, function: Callable[[], Any], writing: int) -> None:
    """Run the function and write its result; never return."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.alarm(CALL_SECONDS)
        if not account.is_self:
            os.setgroups(account.groups)
            os.setresgid(account.gid, account.gid, account.gid)
            os.setresuid(account.uid, account.uid, account.uid)
        os.umask(0o077)
        try:
            result = {"result": function()}
        except Exception as error:  # noqa: BLE001 - the parent reports it
            result = {"fault": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(result).encode())
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)
