"""Links under Pulumi's real engine: several sites, Direct Connect with tunnels over it, and the effect of changes."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.paths import secrets_dir
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left
from tests.graph.support.link_settings import BACKUP, BASEL, BERN, LINE_VPN, ORDERED, line, sites

pytestmark = [pytest.mark.engine]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


def kinds(result: pulumi.OperationResult) -> dict[str, int]:
    return {key: count for key, count in result.changes.items() if key != "same"}


@pytest.mark.long
def test_life_of_a_line_with_tunnels_in_it_and_a_site_beside_it(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
    ordered = client(cloud, "directconnect").create_connection(
        location="EqDC2", bandwidth="10Gbps", connectionName="graph-line", requestMACSec=True
    )
    assert ordered["connectionId"] == ORDERED
    before, first = left(cloud), environment_file.read_text()
    everything = line(encryption="vpn", line_vpn=LINE_VPN, backup=BACKUP, sites=sites(bern=BERN))
    environment = changed(environment_file, *everything)
    built = pulumi.up(environment, environment_file)
    assert set(built.changes) == {"create"} and built.outputs is not None and built.outputs.link is not None
    link = built.outputs.link
    assert [tunnel.over for tunnel in link.tunnels] == ["line", "line", "internet", "internet"]
    assert all(tunnel.outside_address.startswith("100.127.254.") for tunnel in link.tunnels[:2])
    inside = [tunnel.inside_cidr for site in (link, *link.sites.values()) for tunnel in site.tunnels]
    assert len(set(inside)) == 6, "AWS chooses unused ranges"
    keys = secrets_dir("graph") / "link_pre_shared_keys-bern"
    assert keys.stat().st_mode & 0o777 == 0o600 and (secrets_dir("graph") / "link_bgp_auth_key").exists()
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0

    # One more site adds resources alone, and the line's MTU is updated in place.
    more = changed(environment_file, f"bern: {BERN}", f"bern: {BERN}, basel: {BASEL}")
    grown = pulumi.up(more, environment_file)
    assert kinds(grown) == {"create": 6}
    assert pulumi.up(more, environment_file).changed == 0
    faster = changed(environment_file, "vlan: 101\n", "vlan: 101\n      mtu: 1500\n")
    assert kinds(pulumi.up(faster, environment_file)) == {"update": 1}

    # Back to the VPN alone: the VPN connection is the same.
    (address,) = (tunnel.outside_address for tunnel in link.tunnels[2:3])
    environment_file.write_text(first)
    back = pulumi.up(changed(environment_file, "", ""), environment_file)
    assert set(kinds(back)) == {"delete", "update"} and back.outputs is not None and back.outputs.link is not None
    assert back.outputs.link.tunnels[0].outside_address == address
    pulumi.destroy(changed(environment_file, "", ""), environment_file)
    assert left(cloud) == before
    assert not list(secrets_dir("graph").glob("link_*"))
    client(cloud, "directconnect").delete_connection(connectionId=ORDERED)
