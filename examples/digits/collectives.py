"""Listen addresses of JAX's CPU collectives, and a flag that all processes of a run share.

JAX's CPU collectives (gloo) listen on the address of the host name. Debian resolves it to 127.0.1.1, and a new host may
have no entry: then processes on different nodes cannot connect. JAX has no public option for the address, so this
module creates the CPU client with the address that has a route to the coordinator. GPUs are not affected: NCCL chooses
its interfaces.
"""

import socket

import numpy as np
from jax.experimental import multihost_utils


def address_towards(coordinator: str) -> str:
    """Return this host's source address for the coordinator (`address:port`). No packet is sent."""
    host, _, port = coordinator.rpartition(":")
    family, kind, protocol, _, target = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(target)
        return str(probe.getsockname()[0])


def listen_at(address: str) -> str:
    """Set the listen address of JAX's CPU collectives. Return the problem if this JAX does not support it, else "".

    Call it after `jax.distributed.initialize` and before the first use of a device.
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
        return f"this JAX has no option for the listen address ({error}); it uses the host name's address"
    return ""


def hosts_of(hostname: str) -> str:
    """Return the host names of all processes in rank order, comma-separated."""
    local_name = np.zeros(128, np.uint8)
    encoded = hostname.encode()[:128]
    local_name[: len(encoded)] = np.frombuffer(encoded, np.uint8)
    all_names = np.atleast_2d(np.asarray(multihost_utils.process_allgather(local_name)))
    return ",".join(bytes(row).rstrip(b"\0").decode() for row in all_names)


def any_process(flag: bool) -> bool:
    """Return True if any process has set the flag: all processes get the same answer, so they stop at the same epoch."""
    return bool(np.asarray(multihost_utils.process_allgather(np.array([flag], np.int32))).any())
