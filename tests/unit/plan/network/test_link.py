"""Links of any number of sites: the VPN connection of each site, and the routes of each gateway."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.link import KERNEL_CIPHER, OWN, USERSPACE_CIPHER, connections, link_args
from tests.unit.core.samples import environment
from tests.unit.rules.network.rows_link import direct_connect


def site(number: int, datapath: str) -> dict[str, Any]:
    return {
        "cidr": f"10.{100 + number}.0.0/16",
        "gateway": f"gate{number}",
        "address": f"10.{100 + number}.0.1",
        "gateway_address": f"4.4.4.{number + 1}",
        "asn": 65100 + number,
        "datapath": datapath,
    }


@st.composite
def linked(draw: st.DrawFn) -> Environment:
    """Generate an environment with up to eight more sites, over a VPN, Direct Connect, or both."""
    numbers = draw(st.lists(st.integers(0, 40), unique=True, max_size=8))
    datapaths = st.sampled_from(["kernel", "userspace"])
    sites = {f"s{number}": site(number, draw(datapaths)) for number in numbers}
    settings = {"sites": sites, "sites_meet": draw(st.booleans())}
    if draw(st.booleans()):
        return environment({("link", key): value for key, value in settings.items()})
    if draw(st.booleans()):
        settings |= {"backup": {"gateway_address": "3.3.3.3"}}
    if draw(st.booleans()):
        settings |= {"encryption": "vpn", "line_vpn": {"gateway_address": "10.20.0.1"}}
    return environment(direct_connect(**settings))


@given(linked())
def test_every_site_has_its_own_connection_and_its_own_gateway(chosen: Environment) -> None:
    link = chosen.link
    assert link is not None and chosen.onprem is not None
    plan, data = link_args(chosen), inventory(chosen)
    assert set(plan.networks) == {OWN, *link.sites} and set(link.sites) <= set(plan.vpns)
    assert list(plan.vpns) == [connection.key for connection in connections(chosen)]
    assert len({vpn.gateway_address for vpn in plan.vpns.values()}) == len(plan.vpns)
    assert (plan.line is None) == (link.kind == "vpn") and (plan.private_cidr is None) == ("line" not in plan.vpns)
    for name, link_site in link.sites.items():
        cipher = USERSPACE_CIPHER if link_site.datapath == "userspace" else KERNEL_CIPHER
        assert plan.vpns[name].cipher == cipher
        variables = data["_meta"]["hostvars"][link_site.gateway]
        assert variables["ansible_host"] == variables["site_gateway_router_id"] == str(link_site.address)
        assert variables["site_gateway_advertise"] == [str(link_site.cidr)]
        assert variables["landbridge_link_keys"].endswith(f"-{name}")


@given(linked())
def test_a_gateway_accepts_routes_of_the_vpc_and_of_other_sites_only_if_sites_meet(chosen: Environment) -> None:
    link, data = chosen.link, inventory(chosen)
    assert link is not None and chosen.onprem is not None
    aws = str(chosen.aws.cidr)
    every = {str(chosen.onprem.cidr), *(str(link_site.cidr) for link_site in link.sites.values())}
    gateways = [data["_meta"]["hostvars"][link_site.gateway] for link_site in link.sites.values()]
    gateways += [data["site_gateway"]["vars"]] if data["site_gateway"]["vars"] else []
    for variables in gateways:
        (advertised,) = variables["site_gateway_advertise"]
        assert set(variables["site_gateway_accept"]) == ({aws} | every - {advertised} if link.sites_meet else {aws})
