"""One fact of a peer beside ours, and how facts of different forms are brought into one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from landbridge.catalog.compare import Fact

#: Families of which the catalogue has every size.
COMPLETE = {
    *("p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "g4dn", "g5", "g6", "gr6", "g6e", "g7e"),
    *("trn1", "trn1n", "trn2", "m7i", "c7i", "r7i", "m7g", "c7gn", "t3", "t4g"),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One fact that a peer has as well. None: that side does not have it."""

    peer: str
    subject: str
    fact: str
    ours: Fact
    theirs: Fact


def joined(values: Iterable[object]) -> str:
    """A list as one value."""
    return ", ".join(str(one) for one in values)


def snake(word: str) -> str:
    """`maxIO` as `max_io`, `SINGLE_AZ_1` as `single_az_1`, `capacity-block` as `capacity_block`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower().replace("-", "_")
