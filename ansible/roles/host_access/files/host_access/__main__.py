"""Program of the forced command and of its root service.

`forced` is the forced command of the account: it runs no program, and forwards the request of the ssh client to the root service.
`serve` is the root service: systemd starts it for one connection. It trusts no client, and checks the request again.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from host_access.answer import Answer
from host_access.repair import repair
from host_access.words import MOST, RefusedError, Request, parse

SETTINGS = Path("/etc/landbridge/host-access.json")
SOCKET = "/run/landbridge-host-access.sock"
LOCK = "/run/landbridge-host-access.lock"
#: Exit status of a refused request, as that of a shell for a command that may not be executed.
REFUSED = 126
REPAIRS = ("reset", "reboot")


def forced(text: str, settings: dict[str, Any], path: str) -> Answer:
    """Return the root service's answer to the request of an ssh client."""
    request = parse(text, settings["words"])
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(" ".join((request.word, *request.arguments)).encode() + b"\n")
        client.shutdown(socket.SHUT_WR)
        parts = list(iter(lambda: client.recv(65536), b""))
    return Answer(**json.loads(b"".join(parts)))


def serve(text: str, settings: dict[str, Any], lock: str) -> Answer:
    """Return the answer to a request. Repairs run one after the other."""
    request = parse(text, settings["words"])
    if request.word in REPAIRS:
        with open(lock, "w", encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            return repair(request, int(settings["budget"]))
    return _run(request, [str(word) for word in settings["words"][request.word]])


def _run(request: Request, command: list[str]) -> Answer:
    words = [*command, *request.arguments]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def main() -> int:
    """Return the exit status of the answer."""
    parser = argparse.ArgumentParser(prog="landbridge-host-access", description=__doc__)
    parser.add_argument("do", choices=["forced", "serve"])
    parser.add_argument("--settings", type=Path, default=SETTINGS)
    parser.add_argument("--socket", default=SOCKET)
    parser.add_argument("--lock", default=LOCK)
    given = parser.parse_args()
    is_service = given.do == "serve"
    sys.stdin.reconfigure(errors="replace")
    # One character more than permitted, so that a longer text is refused and not cut.
    text = sys.stdin.readline(MOST + 2).rstrip("\n") if is_service else os.environ.get("SSH_ORIGINAL_COMMAND", "")
    try:
        settings = json.loads(given.settings.read_text())
        answer = serve(text, settings, given.lock) if is_service else forced(text, settings, given.socket)
    except RefusedError as error:
        answer = Answer(REFUSED, "", f"landbridge-host-access: {error}\n")
    except (OSError, ValueError, KeyError, TypeError) as error:
        answer = Answer(1, "", f"landbridge-host-access: {error}\n")
    if is_service:
        print(answer.text())
        print(f"{text[:80]!r}: {answer.code} {answer.err.strip()[:300]}".rstrip(), file=sys.stderr)
        return 0
    sys.stdout.write(answer.out)
    sys.stderr.write(answer.err)
    return answer.code


if __name__ == "__main__":
    sys.exit(main())
