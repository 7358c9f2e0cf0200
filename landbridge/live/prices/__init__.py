"""Prices of today from AWS: on demand, spot, Savings Plans and Capacity Blocks."""

from landbridge.live.prices.queries import NEEDS, AskedPrices, ask_prices

__all__ = ["NEEDS", "AskedPrices", "ask_prices"]
