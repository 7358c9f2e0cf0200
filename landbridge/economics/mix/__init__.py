"""Cheapest mix of owned nodes, commitments, Capacity Blocks, on-demand and spot instances for a recorded demand."""

from landbridge.economics.mix.optimum import cheapest, with_owned
from landbridge.economics.mix.prices import BlockRules, MixPrices
from landbridge.economics.mix.result import BlockPurchase, InstrumentUse, Mix

__all__ = ["BlockPurchase", "BlockRules", "InstrumentUse", "Mix", "MixPrices", "cheapest", "with_owned"]
