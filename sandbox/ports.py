"""Free loopback port for a program that gets its port as an argument and binds it seconds later."""

import random
import socket

# Below Linux's ephemeral ports (net.ipv4.ip_local_port_range, from 32768): the kernel assigns none of them to another
# process before the program binds its port. With an ephemeral port, assigned in the meantime, a training job hung.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port without a listener. Raise OSError after a hundred ports in use."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port on the loopback")
