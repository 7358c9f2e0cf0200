"""Lab and state folder of tests: a demonstration of the same user keeps its cluster, keys and stack."""

import hashlib
import os
from pathlib import Path

LAB = "landbridge-tests"
#: Name of the state folder. Paths of sockets in it have 107 characters at most.
STATE = "lb-tests"


def separate() -> None:
    """Set the variables that name the lab and the state folder, for this process and those that it starts."""
    usual = Path.home() / ".local/state"
    base = Path(os.environ.get("XDG_STATE_HOME") or usual)
    if base.name == STATE:
        return
    os.environ["XDG_STATE_HOME"] = str(base / STATE)
    # Two labs of one name would share network namespaces.
    suffix = "" if base == usual else f"-{hashlib.sha256(str(base).encode()).hexdigest()[:6]}"
    os.environ.setdefault("LANDBRIDGE_LAB", f"{LAB}{suffix}")
