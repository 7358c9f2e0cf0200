"""The rest of the machine: mounts, disks, services, and the ports into the fabric."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from node_health.problem import Problem
from node_health.run import run

MOUNTS = Path("/proc/self/mounts")


def mounts(wanted: Sequence[str], table: Path = MOUNTS) -> Iterator[Problem]:
    """Each must be mounted, and answer: a server that is gone leaves its mounts in the table."""
    there = {line.split(" ")[1].replace("\\040", " ") for line in table.read_text().splitlines()}
    for path in wanted:
        if path not in there:
            yield Problem("mount", f"{path} is not mounted", "inspect")
        elif run(["stat", "--file-system", "--format=%T", path], 10).code != 0:
            yield Problem("mount", f"{path} does not answer", "inspect")


def disks(wanted: Mapping[str, float]) -> Iterator[Problem]:
    """`wanted` is the least free share of a path's file system, in percent; one that became read-only is broken."""
    for path, percent in wanted.items():
        try:
            found = os.statvfs(path)
        except OSError as error:
            yield Problem("disk", f"{path}: {error.strerror}", "inspect")
            continue
        if found.f_flag & os.ST_RDONLY:
            yield Problem("disk", f"{path} is read-only", "inspect")
        free = 100 * found.f_bavail / found.f_blocks if found.f_blocks else 100.0
        if free < percent:
            yield Problem("disk", f"{path} has less than {percent:g} percent free", "inspect")


def services(wanted: Sequence[str]) -> Iterator[Problem]:
    """Each must be active."""
    for name in wanted:
        answer = run(["systemctl", "is-active", name], 10)
        if answer.code != 0:
            yield Problem("service", f"{name} is {answer.first_line or 'not there'}", "inspect")


def ports(wanted: Mapping[str, int]) -> Iterator[Problem]:
    """`wanted` is how many InfiniBand ports must be up, by rate in Gb/s; a port that is faster counts for a slower one."""
    answer = run(["ibstat"])
    if answer.code != 0:
        yield Problem("port", answer.first_line or "ibstat does not end", "inspect")
        return
    up, down = Counter[int](), []
    for name, state, physical, rate in _ports(answer.text):
        if state == "Active" and physical == "LinkUp":
            up[rate] += 1
        else:
            down.append(f"{name} is {state}/{physical}")
    free = sorted(up.elements(), reverse=True)
    for rate, count in sorted(((int(rate), count) for rate, count in wanted.items()), reverse=True):
        fit = [one for one in free if one >= rate][:count]
        for one in fit:
            free.remove(one)
        if len(fit) < count:
            yield Problem("port", "; ".join([f"{len(fit)} of {count} at {rate} Gb/s", *down]), "inspect")


def _ports(text: str) -> Iterator[tuple[str, str, str, int]]:
    """(adapter/port, state, physical state, rate) as ibstat prints them."""
    adapter, port, found = "", "", {}
    for line in [*text.splitlines(), "Port end:"]:
        heading = re.match(r"\s*Port (\w+):\s*$", line)
        named = re.match(r"CA '([^']+)'", line)
        if heading or named:
            if port and "Rate" in found and found.get("Link layer", "InfiniBand") == "InfiniBand":
                rate = int(float(found["Rate"].split(" ")[0]))
                yield f"{adapter}/{port}", found.get("State", ""), found.get("Physical state", ""), rate
            found = {}
        if named:
            adapter, port = named.group(1), ""
        elif heading:
            port = heading.group(1)
        else:
            key, _, value = line.strip().partition(": ")
            found[key] = value.strip()
