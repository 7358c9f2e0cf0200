"""Addresses on which the processes of a run listen for one another on CPUs, and a flag common to all of them.

JAX's CPU collectives (gloo) listen at the address that the machine's own host name stands for. Debian writes 127.0.1.1
there, and a fresh machine may have no entry at all: then processes on different nodes never meet. JAX has no public way
to say it, so its CPU client is made here with the address that leads to the coordinator. GPUs are not touched: NCCL
finds its own interfaces.
"""

import socket

import numpy as np
from jax.experimental import multihost_utils


def address_towards(coordinator: str) -> str:
    """This machine's address on the way to the coordinator (`address:port`). No packet is sent."""
    host, _, port = coordinator.rpartition(":")
    family, kind, protocol, _, target = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(target)
        return str(probe.getsockname()[0])


def listen_at(address: str) -> str:
    """Make JAX's CPU collectives listen on this address. Returns the problem when this JAX does not support it, else "".

    After `jax.distributed.initialize` and before the first use of a device.
    """
    try:
        from jax._src import distributed, xla_bridge
        from jax._src.lib import _jax

        collectives = _jax.make_gloo_tcp_collectives(
            distributed_client=distributed.global_state.client, hostname=address, interface=None
        )
        xla_bridge.register_backend_factory(
            "cpu", lambda: xla_bridge.make_cpu_client(collectives), priority=0, fail_quietly=False
        )
    except (ImportError, AttributeError, TypeError) as error:
        return f"this JAX cannot be told where to listen ({error}); it uses the host name's address"
    return ""


def hosts_of(hostname: str) -> str:
    """Every process's host, in rank order, comma-separated."""
    mine = np.zeros(128, np.uint8)
    encoded = hostname.encode()[:128]
    mine[: len(encoded)] = np.frombuffer(encoded, np.uint8)
    every = np.atleast_2d(np.asarray(multihost_utils.process_allgather(mine)))
    return ",".join(bytes(row).rstrip(b"\0").decode() for row in every)


def any_process(flag: bool) -> bool:
    """Return True if any process has set the flag: all processes get the same answer, so they stop at the same epoch."""
    return bool(np.asarray(multihost_utils.process_allgather(np.array([flag], np.int32))).any())
