"""Clients of an NFS export with root access."""

from ipaddress import IPv4Network

from landbridge.environment import Environment, FsxOpenZfs
from landbridge.plan.network.hosts import service_hosts


def root_clients(environment: Environment, share: FsxOpenZfs) -> tuple[str, ...]:
    """Return the clients with root access: the first login host in AWS, which creates users' homes, and the clients in
    the file.

    A single address has no prefix length: exports(5) matches an address before a range that contains it.
    """
    served = service_hosts(environment)
    login = served.addresses.get(served.logins[0]) if environment.aws.services is not None and served.logins else None
    networks = [*([IPv4Network(login)] if login is not None else []), *share.root_hosts]
    texts = (str(network.network_address if network.prefixlen == 32 else network) for network in networks)
    return tuple(dict.fromkeys(texts))
