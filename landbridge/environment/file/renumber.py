"""Addresses of a range that changes: each keeps its offset; in a smaller range those without a place get free ones."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise

#: Address, or range with its prefix length, in any text.
ADDRESS = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(/\d{1,2}(?!\w))?(?![\d.])")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive addresses, by their offsets in the old range: `start`, and `end` after the last one."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Move:
    """Old and new range, and the new offset of each block."""

    old: IPv4Network
    new: IPv4Network
    starts: Mapping[Block, int]

    def address(self, address: IPv4Address) -> IPv4Address | None:
        """Return the new address of one in the old range; None without a place."""
        offset = int(address) - int(self.old.network_address)
        for block, start in self.starts.items():
            if block.start <= offset < block.end:
                return self.new.network_address + start + offset - block.start
        return None

    def network(self, network: IPv4Network) -> IPv4Network | None:
        """Return the new range of one inside the old range; None without a place."""
        if network == self.old:
            return self.new
        offset = int(network.network_address) - int(self.old.network_address)
        if network.prefixlen < self.new.prefixlen or offset >= self.new.num_addresses:
            return None
        return IPv4Network((self.new.network_address + offset, network.prefixlen), strict=False)


def move(old: IPv4Network, new: IPv4Network, used: Iterable[tuple[IPv4Address, int]]) -> Move:
    """Return the move of the used addresses, each with the number of consecutive ones that begin there."""
    blocks: list[Block] = []
    for address, count in sorted(used):
        start = int(address) - int(old.network_address)
        if blocks and start < blocks[-1].end:
            blocks[-1] = Block(blocks[-1].start, max(blocks[-1].end, start + count))
        else:
            blocks.append(Block(start, start + count))
    # In a smaller range the address at this offset may be the broadcast address.
    last = new.num_addresses - (new.prefixlen > old.prefixlen)
    starts = {block: block.start for block in blocks if block.end <= last}
    for block in blocks:
        if block not in starts:
            free = _first_free(starts, block.end - block.start, new.num_addresses)
            starts |= {} if free is None else {block: free}
    return Move(old, new, starts)


def _first_free(starts: Mapping[Block, int], size: int, total: int) -> int | None:
    """Return the first offset with so many free ones, without network and broadcast address."""
    used_offsets = sorted((start, start + block.end - block.start) for block, start in starts.items())
    for (_, end), (start, _) in pairwise([(0, 1), *used_offsets, (total - 1, total)]):
        if start - end >= size:
            return end
    return None
