"""A port of the loopback for a program that is told which one to take, and takes it seconds later."""

import random
import socket

# Below those that Linux gives to connections and to servers that ask for any (net.ipv4.ip_local_port_range, from 32768 on): of
# these nobody is given one in the meantime. A port that was free when it was asked for made a training job hang.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port that nobody listens on now. Raises OSError where a hundred are taken."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port on the loopback")
