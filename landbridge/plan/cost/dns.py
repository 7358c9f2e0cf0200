"""Cost of DNS across the link: Resolver endpoints by address, a hosted zone by the month, queries by number."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import BillItem, by_volume, hourly, monthly
from landbridge.plan.network.dns import dns_args


def dns_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the hosted zone, and with a site the addresses of both Resolver endpoints and their queries."""
    args, region = dns_args(environment), environment.region
    if args is None:
        return
    yield from monthly(f"zone {args.zone}", "hosted_zone", region, 1, kind="control")
    if args.site is not None:
        addresses = len(args.inbound) + len(args.outbound)
        yield from hourly(f"{addresses} addresses of resolver endpoints", "resolver_address", region, addresses)
        yield by_volume("DNS queries across the link", "network", "resolver_million_queries", region)
