"""Shares of a trace's jobs, chosen by hash: the same jobs in each run."""

from hashlib import blake2b


def share_of(text: str) -> float:
    """Return a number from 0 to 1 that depends only on the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) / 0x1_0000_0000
