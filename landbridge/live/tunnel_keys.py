"""Pre-shared keys of VPN tunnels in AWS: a new key of one tunnel.

Source: EC2 API Reference, ModifyVpnTunnelOptions: "you can only modify one tunnel at a time"; Site-to-Site VPN User
Guide, "Modify Site-to-Site VPN tunnel options": the tunnel is interrupted for up to several minutes.
"""

import re
import secrets
import string
import time
from collections.abc import Callable, Mapping
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.catalog.aws.limits import limits

#: IAM actions that `landbridge link renew-key` needs.
NEEDS = ("ec2:DescribeVpnConnections", "ec2:ModifyVpnTunnelOptions")
#: Returns a new client without cached responses.
Connect = Callable[[], AwsClient]
_PAUSE_SECONDS = 2.0
#: Longest time of a change.
_PATIENCE_SECONDS = 1800.0


class TunnelNotReady(Exception):
    """Error: the connection is not available, or a change did not end."""


def new_key() -> str:
    """Return a random key in the form that AWS accepts."""
    facts = limits().vpn
    while True:
        letters = string.ascii_letters + string.digits
        key = "".join(secrets.choice(letters) for _ in range(facts.psk_characters[1]))
        if re.fullmatch(facts.psk_pattern, key):
            return key


def require_available(connect: Connect, connection: str) -> None:
    """Raise TunnelNotReady unless the connection is available, AwsRefusal if AWS does not answer."""
    state = _described(connect, connection)["State"]
    if state != "available":
        raise TunnelNotReady(f"{connection} is {state} in AWS: repeat the command when it is available")


def set_key(connect: Connect, connection: str, address: str, key: str) -> None:
    """Set the key of the tunnel with this outside address; AWS changes the tunnel afterwards. Raises AwsRefusal."""
    connect().ask(
        "ec2",
        "modify_vpn_tunnel_options",
        VpnConnectionId=connection,
        VpnTunnelOutsideIpAddress=address,
        TunnelOptions={"PreSharedKey": key},
    )


def wait_until_available(connect: Connect, connection: str, pause_seconds: float = _PAUSE_SECONDS) -> None:
    """Wait until AWS has changed the tunnel. Raises AwsRefusal, TunnelNotReady."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while (state := _described(connect, connection)["State"]) != "available":
        if time.monotonic() > end:
            raise TunnelNotReady(f"{connection} is still {state} in AWS after {_PATIENCE_SECONDS / 60:.0f} minutes")
        time.sleep(pause_seconds)


def _described(connect: Connect, connection: str) -> Mapping[str, Any]:
    answer = connect().ask("ec2", "describe_vpn_connections", VpnConnectionIds=[connection])
    rows: list[Mapping[str, Any]] = answer["VpnConnections"]
    if not rows:
        raise AwsRefusal("ec2:DescribeVpnConnections", "InvalidVpnConnectionID.NotFound", f"no {connection}")
    return rows[0]
