"""Program in place of systemctl on a test's host: `python slot_units.py PLACE enable|restart|disable [--now] UNIT`.

A unit is a real model server. PLACE/units.json has the settings file of each, and PLACE/UNIT.pid the process that runs.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def stop(place: Path, unit: str) -> None:
    """End the unit's process, and wait for it."""
    file = place / f"{unit}.pid"
    if not file.exists():
        return
    pid = int(file.read_text())
    try:
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.02)
    except (ProcessLookupError, FileNotFoundError):
        pass
    file.unlink()


def main(folder: str, *words: str) -> None:
    """Run a command of systemctl."""
    place, unit = Path(folder), words[-1]
    if words[0] in ("restart", "disable"):
        stop(place, unit)
    if words[0] == "restart":
        settings = json.loads((place / "units.json").read_text())[unit]
        line = [sys.executable, "-m", "landbridge.serving.server.service", "--config", settings]
        with (place / f"{unit}.log").open("ab") as log:
            process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        (place / f"{unit}.pid").write_text(str(process.pid))


if __name__ == "__main__":
    main(*sys.argv[1:])
