"""New pre-shared keys of VPN tunnels in the emulated AWS."""

import re
from typing import Any

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.catalog.aws.limits import limits
from landbridge.live.tunnel_keys import TunnelNotReady, new_key, require_available, set_key, wait_until_available
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.networks.test_emulator_transit import Hub


def tunnels(hub: Hub) -> list[dict[str, Any]]:
    answer = hub.ec2.describe_vpn_connections(VpnConnectionIds=[hub.vpn])["VpnConnections"][0]
    return list(answer["Options"]["TunnelOptions"])


def test_keys_have_aws_form_and_differ() -> None:
    facts, keys = limits().vpn, [new_key() for _ in range(100)]
    assert len(set(keys)) == 100 and {len(key) for key in keys} == {facts.psk_characters[1]}
    assert all(re.fullmatch(facts.psk_pattern, key) for key in keys)


def test_one_tunnel_gets_the_key_and_no_other_is_changed_meanwhile(cloud: EmulatorProcess, ec2: Any) -> None:
    hub, key = Hub(ec2), new_key()
    first, second = tunnels(hub)

    def connect() -> AwsClient:
        return AwsClient("us-east-1", cloud.endpoint)

    cloud.control(tunnel_change=600)
    require_available(connect, hub.vpn)
    set_key(connect, hub.vpn, second["OutsideIpAddress"], key)
    with pytest.raises(TunnelNotReady, match="is modifying in AWS"):
        require_available(connect, hub.vpn)
    with pytest.raises(AwsRefusal, match="IncorrectState"):
        set_key(connect, hub.vpn, first["OutsideIpAddress"], new_key())
    cloud.control(clock=600)
    wait_until_available(connect, hub.vpn, pause_seconds=0.1)
    require_available(connect, hub.vpn)
    assert [row["PreSharedKey"] for row in tunnels(hub)] == [first["PreSharedKey"], key]
    with pytest.raises(AwsRefusal, match="InvalidVpnConnectionID"):
        require_available(connect, "vpn-0123456789abcdef0")
