"""Packet capture on a lab bridge: counts frames by protocol and port, to prove that sites use only the tunnel."""

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.network import netns

_ETH_P_ALL = 0x0003
_SOL_PACKET = 263
_ADD_MEMBERSHIP = 1
_PROMISCUOUS = 1
_STATISTICS = 6
_IPV4, _ARP, _IPV6 = 0x0800, 0x0806, 0x86DD
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp"}
# Ethernet header, longest IPv4 header, ports, and the marker that separates IKE from ESP.
_HEAD_BYTES = 14 + 60 + 12
# Limit for reading frames that were queued at the end, while further frames keep arriving.
_DRAIN_SECONDS = 3.0


def classify(frame: bytes) -> str:
    """Return `udp/4500 esp`, `udp/4500 ike`, `tcp/22`, `icmp`, `arp`, ...; the port is the smaller of the two."""
    ethertype = struct.unpack_from("!H", frame, 12)[0] if len(frame) >= 14 else 0
    if ethertype != _IPV4:
        return {_ARP: "arp", _IPV6: "ipv6"}.get(ethertype, f"ethertype {ethertype:#06x}")
    header = (frame[14] & 0x0F) * 4
    protocol = _PROTOCOLS.get(frame[23], f"protocol {frame[23]}")
    fragment = struct.unpack_from("!H", frame, 20)[0] & 0x1FFF
    start = 14 + header
    if fragment:
        return f"{protocol} fragment"
    if protocol not in ("tcp", "udp") or len(frame) < start + 4:
        return protocol
    port = min(struct.unpack_from("!HH", frame, start))
    if protocol == "udp" and port == 4500:
        return f"udp/4500 {_inside_udp_encapsulation(frame[start + 8 : start + 12])}"
    return f"{protocol}/{port}"


def _inside_udp_encapsulation(head: bytes) -> str:
    """Classify by RFC 3948: four zero bytes mark IKE, a single 0xff is a NAT keepalive, other bytes are ESP's SPI."""
    if head[:1] == b"\xff":
        return "keepalive"
    return "ike" if head == b"\0\0\0\0" else "esp"


class PacketCapture:
    """Counts of a capture. `dropped`: frames that the kernel dropped because its buffer was full."""

    def __init__(self) -> None:
        self.packets: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.dropped = 0

    def add(self, frame: bytes, size: int) -> None:
        kind = classify(frame)
        self.packets[kind] += 1
        self.bytes[kind] += size


@contextmanager
def capture(lab: Layout, bridge: str) -> Iterator[PacketCapture]:
    """Count frames on `bridge` during the block; the counts are complete after it."""
    counts = PacketCapture()
    ended = threading.Event()
    with netns.socket_in(lab.netns, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as sock:
        sock.bind((bridge, _ETH_P_ALL))
        index = netns.call(lab.netns, lambda: socket.if_nametoindex(bridge))
        # A bridge delivers only packets to its own address to a socket, except in promiscuous mode.
        sock.setsockopt(_SOL_PACKET, _ADD_MEMBERSHIP, struct.pack("IHH8s", index, _PROMISCUOUS, 0, b""))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        sock.settimeout(0.2)
        reader = threading.Thread(target=read, args=(sock, counts, ended), daemon=True)
        reader.start()
        try:
            yield counts
        finally:
            ended.set()
            reader.join()
            counts.dropped = struct.unpack("II", sock.getsockopt(_SOL_PACKET, _STATISTICS, 8))[1]


def read(sock: socket.socket, counts: PacketCapture, ended: threading.Event) -> None:
    """Count frames until `ended` is set, including frames queued by then; `sock` has a time-out for reads."""
    buffer = bytearray(_HEAD_BYTES)
    view = memoryview(buffer)
    deadline: float | None = None
    while deadline is None or time.monotonic() < deadline:
        # Checked before the read: packets that arrived until now are queued in the socket and counted.
        if deadline is None and ended.is_set():
            deadline = time.monotonic() + _DRAIN_SECONDS
        try:
            size, _ = sock.recvfrom_into(view, 0, socket.MSG_TRUNC)
        except TimeoutError:
            if deadline is not None:
                return
            continue
        counts.add(bytes(view[: min(size, _HEAD_BYTES)]), size)
