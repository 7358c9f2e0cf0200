"""Instances over time: state changes, the machines behind them, and the instance metadata service."""
