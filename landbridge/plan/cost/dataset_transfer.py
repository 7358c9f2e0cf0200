"""Cost of moving a dataset: requests, traffic from AWS to the site, and a month of storage, at dated prices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from landbridge.catalog import PriceRange, price_of
from landbridge.catalog.aws.prices import PriceKind
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.environment.base import Site

#: AWS bills S3 and its traffic by binary gigabytes. Source: aws.amazon.com/s3/pricing, "1 GB = 2^30 bytes", 2026-11-26.
_GB = 2**30


@dataclass(frozen=True, slots=True)
class TransferAmounts:
    """Requests that write or list, requests that read, bytes into and out of S3, and bytes that remain stored."""

    writes: int = 0
    reads: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    stored: int = 0


@dataclass(frozen=True, slots=True)
class TransferCharge:
    """Charge of a transfer in US dollars, lowest and highest; None: its price is unknown. `monthly`: for each month."""

    description: str
    usd: tuple[float, float] | None
    monthly: bool
    price: str
    as_of: date | None
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return the charge as plain data."""
        return {
            "description": self.description,
            "usd": None if self.usd is None else list(self.usd),
            "monthly": self.monthly,
            "price": self.price,
            "date": self.as_of.isoformat() if self.as_of else None,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class TransferCost:
    """Charges of a transfer. Sums leave out charges without a known price: then they are lower bounds (`at_least`)."""

    charges: tuple[TransferCharge, ...]

    @property
    def at_least(self) -> bool:
        """Return true if the price of a charge is unknown."""
        return any(charge.usd is None for charge in self.charges)

    def total(self, *, monthly: bool) -> tuple[float, float]:
        """Return the lowest and the highest sum, of the transfer or of a month of storage."""
        sums = [charge.usd for charge in self.charges if charge.usd is not None and charge.monthly == monthly]
        return sum(low for low, _ in sums), sum(high for _, high in sums)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums and charges as plain data."""
        sums: Mapping[str, tuple[float, float]] = {
            "usd": self.total(monthly=False),
            "usd_month": self.total(monthly=True),
        }
        named = {name: [round(value, 6) for value in pair] for name, pair in sums.items()}
        return {**named, "at_least": self.at_least, "charges": [charge.to_dict() for charge in self.charges]}


def transfer_cost(environment: Environment, amounts: TransferAmounts, site: Site) -> TransferCost:
    """Return the cost of a transfer between the environment's region and a site."""
    return TransferCost(tuple(_charges(environment, amounts, site)))


def _charges(environment: Environment, amounts: TransferAmounts, site: Site) -> Iterator[TransferCharge]:
    region = environment.region
    if amounts.writes:
        yield _charge(f"{amounts.writes:,} write requests", "storage", "s3_standard_put", region, amounts.writes / 1000)
    if amounts.reads:
        yield _charge(f"{amounts.reads:,} read requests", "storage", "s3_standard_get", region, amounts.reads / 1000)
    if site == "onprem":
        if amounts.bytes_in:
            size = amounts.bytes_in / _GB
            yield _charge(f"{size:,.3f} GB into AWS", "network", "internet_in", region, size)
        if amounts.bytes_out:
            name = _out(environment)
            size = amounts.bytes_out / _GB
            yield _charge(f"{size:,.3f} GB from AWS to the site", "network", name, region, size)
        moved = (amounts.bytes_in + amounts.bytes_out) / _GB
        if moved and _over_the_link(environment):
            yield _charge("through the interface endpoint", "network", "interface_endpoint_gb", region, moved)
            yield _charge("through the transit gateway", "network", "transit_gateway_gb", region, moved)
    if amounts.stored:
        size = amounts.stored / _GB
        yield _charge(f"{size:,.3f} GB stored", "storage", "s3_standard", region, size, monthly=True)


def _out(environment: Environment) -> str:
    """Return the price of traffic out of AWS. Without free amounts, and in the first 10 TB of a month."""
    is_line = isinstance(environment.link, DirectConnectSettings)
    return "direct_connect_out" if is_line and _over_the_link(environment) else "internet_out_first_10_tb"


def _over_the_link(environment: Environment) -> bool:
    """Return true if the site reaches S3 through the link: with an endpoint of its own. Landbridge creates a gateway
    endpoint only, which does not answer the site; without another one the site uses S3's public addresses.
    """
    return environment.link is not None and environment.aws.endpoints.onprem is not None


def _charge(
    description: str, kind: PriceKind, name: str, region: str, units: float, *, monthly: bool = False
) -> TransferCharge:
    price = price_of(kind, name, region)
    if price is None:
        return TransferCharge(description, None, monthly, name, None, f"no price known for {name} in {region}")
    low, high = (price.low, price.high) if isinstance(price, PriceRange) else (price.usd, price.usd)
    return TransferCharge(description, (low * units, high * units), monthly, name, price.as_of, price.source)
