"""Reader of the facts of one host, run there by `python3 -`: output of programs, connections, DNS, sizes of packets.

It needs only Python's standard library, changes nothing, and decides nothing. Its argument is the request, its output the
facts, both JSON (the request in base64).
"""

import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_TYPES = {"A": 1, "SOA": 6}
#: Bytes of the headers of IPv4 and ICMP.
_PING_HEADERS = 28
_SMALLEST_MTU = 576
#: Greatest error of a measured size, in bytes: each lost packet costs a second.
_STEP = 8


def program(words: list[str], timeout: float = 20) -> dict[str, Any]:
    """Return exit status, output and errors of a program; the status is None if it could not be run."""
    search = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin"
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            env={**os.environ, "PATH": search, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return {"code": None, "out": "", "err": f"did not end within {timeout:g} s"}
    except OSError as error:
        return {"code": None, "out": "", "err": str(error)}
    texts = [text.decode(errors="replace") for text in (done.stdout, done.stderr)]
    return {"code": done.returncode, "out": texts[0], "err": texts[1]}


def connect(address: str, port: int, timeout: float) -> dict[str, Any]:
    """Return the outcome of a TCP connection: open, refused, timeout, or the kernel's error."""
    started = time.monotonic()
    try:
        with socket.create_connection((address, port), timeout):
            outcome = "open"
    except ConnectionRefusedError:
        outcome = "refused"
    except TimeoutError:
        outcome = "timeout"
    except OSError as error:
        outcome = error.strerror or type(error).__name__
    return {"address": address, "port": port, "outcome": outcome, "seconds": round(time.monotonic() - started, 3)}


def query(server: str, name: str, kind: str, timeout: float) -> dict[str, Any]:
    """Return the response code of a DNS query and its addresses; the code is None without an answer."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.rstrip(".").split(".")) + b"\0"
    packet = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack(">HH", _TYPES[kind], 1)
    result: dict[str, Any] = {"server": server, "name": name, "code": None, "answers": 0, "addresses": [], "error": ""}
    try:
        response = _ask(server, packet, timeout)
        result["code"], result["answers"] = response[3] & 15, struct.unpack(">H", response[6:8])[0]
        result["addresses"] = list(_addresses(response, len(packet), result["answers"]))
    except (OSError, IndexError, struct.error) as error:
        result["error"] = str(error) or type(error).__name__
    return result


def _ask(server: str, packet: bytes, timeout: float) -> bytes:
    """Return the response to a query, which is sent twice if the first one or its response was lost."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(timeout / 2)
        client.connect((server, 53))
        client.send(packet)
        try:
            return client.recv(4096)
        except TimeoutError:
            client.send(packet)
            return client.recv(4096)


def _addresses(response: bytes, at: int, count: int) -> Iterator[str]:
    for _ in range(count):
        while response[at] and response[at] < 192:
            at += 1 + response[at]
        at += 2 if response[at] else 1
        kind, _, _, length = struct.unpack(">HHIH", response[at : at + 10])
        at += 10
        if kind == _TYPES["A"] and length == 4:
            yield socket.inet_ntoa(response[at : at + 4])
        at += length


def path(address: str, mtu: int) -> dict[str, Any]:
    """Return a size of packets that cross a path without fragmentation, at most `_STEP` bytes below the largest, and
    the round-trip times. It is at most `mtu`.

    `largest` is None if not even a small packet is answered; `reported`: the MTU in an ICMP message, if one came.
    """
    small = _ping(address, _SMALLEST_MTU, 3)
    times = [float(value) for value in re.findall(r"time=([0-9.]+)", small["out"])]
    facts = {"address": address, "asked": mtu, "largest": None, "reported": None, "milliseconds": times}
    if small["code"] is None:
        return {**facts, "error": small["err"]}
    if not times:
        return facts
    low, high = _SMALLEST_MTU, mtu + 1
    trial = mtu
    # The planned size first: it passes on a healthy path.
    while low < mtu and (high == mtu + 1 or high - low > _STEP):
        # Three packets of the planned size: one lost packet is not a black hole.
        answer = _ping(address, trial, 3 if trial == mtu else 1)
        reported = re.findall(r"mtu ?= ?(\d+)", answer["out"] + answer["err"])
        if reported:
            facts["reported"] = int(reported[-1])
        if "time=" in answer["out"]:
            low = trial
        else:
            high = trial
        trial = (low + high) // 2
    return {**facts, "largest": low}


def _ping(address: str, mtu: int, count: int) -> dict[str, Any]:
    size = str(mtu - _PING_HEADERS)
    return program(["ping", "-n", "-M", "do", "-s", size, "-c", str(count), "-i", "0.2", "-W", "1", address])


def read(name: str) -> Any:
    """Return a file's text; None if it cannot be read."""
    try:
        with open(name) as file:
            return file.read()
    except OSError:
        return None


def facts(request: dict[str, Any]) -> dict[str, Any]:
    """Return all facts that a request names."""
    timeout = request["timeout"]
    counters = [read("/proc/net/netstat")]
    with ThreadPoolExecutor(16) as pool:
        paths = [pool.submit(path, address, mtu) for address, mtu in request["paths"]]
        connections = [pool.submit(connect, address, port, timeout) for address, port in request["tcp"]]
        queries = [pool.submit(query, server, name, kind, timeout) for server, name, kind in request["dns"]]
        result = {
            "paths": [item.result() for item in paths],
            "tcp": [item.result() for item in connections],
            "dns": [item.result() for item in queries],
        }
    counters.append(read("/proc/net/netstat"))
    with ThreadPoolExecutor(16) as pool:
        limit = request.get("program_timeout", 20)
        started = {name: pool.submit(program, words, limit) for name, words in request["programs"].items()}
        programs = {name: item.result() for name, item in started.items()}
    files = {name: read(name) for name in request["files"]}
    return {**result, "programs": programs, "files": files, "netstat": counters, "time": time.time()}


if __name__ == "__main__":
    json.dump(facts(json.loads(base64.b64decode(sys.argv[1]))), sys.stdout)
