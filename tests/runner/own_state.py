"""Lab and state folder of tests: a demonstration of the same user keeps its cluster, keys and stack."""

import hashlib
import os
from pathlib import Path

LAB = "landbridge-tests"
#: Name of the state folder. Paths of sockets in it have 107 characters at most.
STATE = "lb-tests"


def separate() -> None:
    """Set the variables that name the lab and the state folder, for this process and those that it starts.

    A lab of another name has another state folder: a stack keeps the address of its lab's emulated AWS, and the next
    update would ask there.
    """
    usual = Path.home() / ".local/state"
    base = Path(os.environ.get("XDG_STATE_HOME") or usual)
    if base.name.startswith(STATE):
        return
    # Two labs of one name would share network namespaces.
    usual_lab = LAB if base == usual else f"{LAB}-{_short(str(base))}"
    lab = os.environ.setdefault("LANDBRIDGE_LAB", usual_lab)
    folder = STATE if lab == usual_lab else f"{STATE}-{_short(lab)}"
    os.environ["XDG_STATE_HOME"] = str(base / folder)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
