"""Search of the log files of Slurm's daemons, run on a host by `python3 -c`: they write files, and not to the journal.

It needs only Python's standard library and changes nothing. Its argument is the search in JSON; its output has the form of
`journalctl --output=json`, or the lines as they are (`plain`).
"""

import json
import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

FOLDER = "/var/log/slurm"
#: Time of a line in the host's time zone. Source: slurm.conf(5), LogTimeFormat (default iso8601_ms).
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?\] ?(.*)")


def lines_since(path: str, start: float) -> Iterator[tuple[float, str, str]]:
    """Yield time, message and text of each line since a time; a line without a time has the time of the line before."""
    at = 0.0
    if not os.path.exists(path):
        return
    with open(path, errors="replace") as file:
        for line in file:
            whole = line.rstrip("\n")
            match = _LINE.match(whole)
            if match:
                at = time.mktime(time.strptime(match[1], "%Y-%m-%dT%H:%M:%S")) + float(match[2] or 0)
            if at >= start:
                yield at, match[3] if match else whole, whole


def search(query: dict[str, Any], folder: str, now: float) -> Iterator[str]:
    """Yield the output: the latest `most` lines of each daemon."""
    start, end = query["span"] or (now - query["seconds"], now - query["until"])
    pattern = re.compile(query["pattern"], re.IGNORECASE) if query["pattern"] else None
    for daemon in query["daemons"]:
        entries: deque[str] = deque(maxlen=query["most"])
        for name in (f"{daemon}.log.1", f"{daemon}.log"):
            for at, message, line in lines_since(os.path.join(folder, name), start):
                if at > end + 1:
                    break
                is_error = re.match(r"(?:\S+ )?(?:error|fatal):", message)
                if (pattern and not pattern.search(message)) or (query["errors"] and not is_error):
                    continue
                entry = {"__REALTIME_TIMESTAMP": str(int(at * 1_000_000)), "_SYSTEMD_UNIT": daemon, "MESSAGE": message}
                entries.append(line if query["plain"] else json.dumps(entry))
        yield from entries


if __name__ == "__main__":
    for text in search(json.loads(sys.argv[1]), FOLDER, time.time()):
        print(text)
