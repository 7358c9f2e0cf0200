"""Connection from nodes in AWS to a service."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceFlow:
    """Connection from nodes in AWS to the hosts of an inventory group (SITE_SERVER: to a server that Landbridge does not
    configure). `ports` is a port or a range.
    """

    group: str
    protocol: str
    ports: str
    why: str
