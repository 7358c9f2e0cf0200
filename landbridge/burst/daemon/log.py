"""Log of the service: stderr, which systemd keeps."""

import sys


def log(text: str) -> None:
    """Write a line to the service's log."""
    print(text, file=sys.stderr, flush=True)
