"""Packet capture classifies frames: a leak past the tunnel must not count as the tunnel."""

import socket
import struct
import threading

import pytest

from sandbox.nspawn.network.capture import PacketCapture, classify, read


def frame(
    protocol: int, ports: tuple[int, int] = (0, 0), payload: bytes = b"", kind: int = 0x0800, options: int = 0
) -> bytes:
    ethernet = bytes(12) + struct.pack("!H", kind)
    header = bytearray(20 + options)
    header[0] = 0x40 | (len(header) // 4)
    header[9] = protocol
    transport = struct.pack("!HHHH", *ports, 8 + len(payload), 0)
    return ethernet + bytes(header) + transport + payload


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (frame(17, (4500, 4500), b"\xc0\xff\xee\x01" + bytes(40)), "udp/4500 esp"),
        (frame(17, (4500, 4500), b"\0\0\0\0" + bytes(40)), "udp/4500 ike"),
        (frame(17, (4500, 4500), b"\xff"), "udp/4500 keepalive"),
        (frame(17, (500, 500), bytes(28)), "udp/500"),
        (frame(6, (40000, 6817)), "tcp/6817"),
        (frame(6, (22, 40000), options=8), "tcp/22"),
        (frame(50), "esp"),
        (frame(1), "icmp"),
        (frame(0, kind=0x0806), "arp"),
        (frame(0, kind=0x86DD), "ipv6"),
        (b"", "ethertype 0x0000"),
    ],
)
def test_classify(given: bytes, expected: str) -> None:
    assert classify(given) == expected


def test_a_later_fragment_has_no_ports_to_be_taken_for_some() -> None:
    given = bytearray(frame(17, (4500, 4500), bytes(40)))
    given[20:22] = struct.pack("!H", 185)
    assert classify(bytes(given)) == "udp fragment"


def test_what_came_before_the_end_is_counted_however_late_it_is_read() -> None:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with here, there:
        there.settimeout(0.2)
        for _ in range(5):
            here.send(frame(1))
        ended, seen = threading.Event(), PacketCapture()
        ended.set()
        read(there, seen, ended)
    assert seen.packets == {"icmp": 5}
