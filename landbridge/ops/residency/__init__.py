"""Proof of data residency: a graph of places and crossings, compiled from an environment; it makes no call."""

from landbridge.ops.residency.proof import ResidencyProof, prove

__all__ = ["ResidencyProof", "prove"]
