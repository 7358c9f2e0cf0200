"""Lab and state folder of tests: a demonstration of the same user keeps its cluster, keys and stack."""

import os
from pathlib import Path

LAB = "landbridge-tests"


def separate() -> None:
    """Set the variables that name the lab and the state folder, for this process and those that it starts."""
    os.environ.setdefault("LANDBRIDGE_LAB", LAB)
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    if base.name != LAB:
        os.environ["XDG_STATE_HOME"] = str(base / LAB)
