"""Packet capture classifies frames: a frame outside the tunnel must not count as tunnel traffic."""

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
    ("packet", "expected"),
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
def test_classify(packet: bytes, expected: str) -> None:
    assert classify(packet) == expected


def test_a_later_fragment_has_no_ports() -> None:
    packet = bytearray(frame(17, (4500, 4500), bytes(40)))
    packet[20:22] = struct.pack("!H", 185)
    assert classify(bytes(packet)) == "udp fragment"


def test_packets_before_the_end_are_counted_even_if_read_late() -> None:
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        receiver.settimeout(0.2)
        for _ in range(5):
            sender.send(frame(1))
        ended, capture = threading.Event(), PacketCapture()
        ended.set()
        read(receiver, capture, ended)
    assert capture.packets == {"icmp": 5}
