"""Tunnels of VPN connections in the emulated AWS: values by AWS, and changes of one tunnel at a time."""

from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.aws_emulator.networks.test_emulator_transit import Hub, code_of


@pytest.fixture
def hub(cloud: EmulatorProcess) -> Hub:
    return Hub(client_of(cloud, "ec2"))


def described(hub: Hub) -> Any:
    return hub.ec2.describe_vpn_connections(VpnConnectionIds=[hub.vpn])["VpnConnections"][0]


def test_aws_chooses_addresses_and_keys_of_both_tunnels(hub: Hub) -> None:
    first, second = described(hub)["Options"]["TunnelOptions"]
    assert (first["OutsideIpAddress"], second["OutsideIpAddress"]) == ("3.3.3.13", "3.3.3.14")
    assert len({row[key] for row in (first, second) for key in ("PreSharedKey", "TunnelInsideCidr")}) == 4


def test_one_tunnel_is_changed_at_a_time(cloud: EmulatorProcess, hub: Hub) -> None:
    cloud.control(tunnel_change=600)
    first, second = described(hub)["Options"]["TunnelOptions"]
    modify, key = hub.ec2.modify_vpn_tunnel_options, "k" * 64
    of_first = {"VpnConnectionId": hub.vpn, "VpnTunnelOutsideIpAddress": first["OutsideIpAddress"]}
    of_second = {**of_first, "VpnTunnelOutsideIpAddress": second["OutsideIpAddress"]}
    for wrong in ("short", "k" * 65, "0" + "k" * 9, "k" * 9 + "-", "k" * 9 + "\n"):
        assert code_of(modify, **of_first, TunnelOptions={"PreSharedKey": wrong}) == "InvalidParameterValue"
    unknown = {**of_first, "VpnTunnelOutsideIpAddress": "3.3.3.99"}
    assert code_of(modify, **unknown, TunnelOptions={"PreSharedKey": key}) == "InvalidParameterValue"
    other = {**of_first, "VpnConnectionId": "vpn-0123456789abcdef0"}
    assert code_of(modify, **other, TunnelOptions={"PreSharedKey": key}) == "InvalidVpnConnectionID.NotFound"
    modify(**of_first, TunnelOptions={"PreSharedKey": key})
    assert described(hub)["State"] == "modifying"
    assert code_of(modify, **of_second, TunnelOptions={"PreSharedKey": key}) == "IncorrectState"
    rows = described(hub)["Options"]["TunnelOptions"]
    assert [row["PreSharedKey"] for row in rows] == [key, second["PreSharedKey"]]
    hub.ec2.delete_vpn_connection(VpnConnectionId=hub.vpn)
    assert code_of(modify, **of_first, TunnelOptions={"PreSharedKey": key}) == "InvalidVpnConnectionID.NotFound"
