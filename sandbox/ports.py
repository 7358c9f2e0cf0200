"""Free loopback port for a program that gets its port as an argument and binds it seconds later."""

import random
import socket

# Below those that Linux gives to connections and to servers that ask for any (net.ipv4.ip_local_port_range, from 32768 on): of
# these the kernel assigns none in the meantime. A port that was free when it was asked for made a training job hang.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port without a listener. Raise OSError after a hundred used ports."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port on the loopback")
