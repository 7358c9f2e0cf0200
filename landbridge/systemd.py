"""Notifications to systemd: ready, watchdog, stopping. Without systemd nothing is sent."""

import contextlib
import os
import socket


def notify(*words: str) -> None:
    """Send states such as READY=1 to systemd's notification socket."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    address = "\0" + path[1:] if path.startswith("@") else path
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out, contextlib.suppress(OSError):
        out.sendto("\n".join(words).encode(), address)
