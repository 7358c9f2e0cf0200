"""Links of any number of sites: what is made for each, and what each gateway is told of the others."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.link import KERNEL_CIPHER, OWN, USERSPACE_CIPHER, connections, link_args
from tests.unit.core.samples import environment
from tests.unit.rules.network.rows_link import line


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
    """An environment with up to eight more sites in any order, over a VPN, a line, or both."""
    numbers = draw(st.lists(st.integers(0, 40), unique=True, max_size=8))
    ways = st.sampled_from(["kernel", "userspace"])
    sites = {f"s{number}": site(number, draw(ways)) for number in numbers}
    more = {"sites": sites, "sites_meet": draw(st.booleans())}
    if draw(st.booleans()):
        return environment({("link", key): value for key, value in more.items()})
    if draw(st.booleans()):
        more |= {"backup": {"gateway_address": "3.3.3.3"}}
    if draw(st.booleans()):
        more |= {"encryption": "vpn", "line_vpn": {"gateway_address": "10.20.0.1"}}
    return environment(line(**more))


@given(linked())
def test_every_site_has_its_own_connection_and_its_own_gateway(wanted: Environment) -> None:
    link = wanted.link
    assert link is not None and wanted.onprem is not None
    plan, told = link_args(wanted), inventory(wanted)
    assert set(plan.networks) == {OWN, *link.sites} and set(link.sites) <= set(plan.vpns)
    assert list(plan.vpns) == [one.key for one in connections(wanted)]
    assert len({vpn.gateway_address for vpn in plan.vpns.values()}) == len(plan.vpns)
    assert (plan.line is None) == (link.kind == "vpn") and (plan.private_cidr is None) == ("line" not in plan.vpns)
    for name, own in link.sites.items():
        cipher = USERSPACE_CIPHER if own.datapath == "userspace" else KERNEL_CIPHER
        assert plan.vpns[name].cipher == cipher
        variables = told["_meta"]["hostvars"][own.gateway]
        assert variables["ansible_host"] == variables["site_gateway_router_id"] == str(own.address)
        assert variables["site_gateway_advertise"] == [str(own.cidr)]
        assert variables["landbridge_link_keys"].endswith(f"-{name}")


@given(linked())
def test_a_gateway_takes_the_vpc_and_others_only_where_sites_meet_and_never_itself(wanted: Environment) -> None:
    link, told = wanted.link, inventory(wanted)
    assert link is not None and wanted.onprem is not None
    aws = str(wanted.aws.cidr)
    every = {str(wanted.onprem.cidr), *(str(own.cidr) for own in link.sites.values())}
    gateways = [told["_meta"]["hostvars"][own.gateway] for own in link.sites.values()]
    gateways += [told["site_gateway"]["vars"]] if told["site_gateway"]["vars"] else []
    for variables in gateways:
        (ours,) = variables["site_gateway_advertise"]
        assert set(variables["site_gateway_accept"]) == ({aws} | every - {ours} if link.sites_meet else {aws})
