"""Price of a MIG slice: its share of the price of one GPU."""

from landbridge.catalog import Price, gpus, instances, price_of
from landbridge.catalog.hardware.mig import gpu_share, mig_profiles


def gpu_usd_hour(model: str, region: str) -> float | None:
    """Return the lowest price of one GPU of a model in an hour, from the instance types that have this GPU; None without a price.

    A GPU of the same type in another form (SXM, PCIe) counts too: the catalogue's instance types state the type.
    """
    kind = gpus()[model].type
    prices = (
        (price_of("on_demand", name, region), instance.accelerators.count)
        for name, instance in instances().items()
        if instance.accelerators is not None and instance.accelerators.type == kind
    )
    return min((price.usd / count for price, count in prices if isinstance(price, Price)), default=None)


def slice_usd_hour(model: str, profile: str, gpu_usd: float | None) -> float | None:
    """Return the price of a slice in USD an hour, from a GPU's price; None without one, and for an unknown profile."""
    return None if gpu_usd is None or profile not in mig_profiles(model) else gpu_usd * gpu_share(model, profile)
