"""A fact of a peer compared with the catalogue, and the conversion of facts to one form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from landbridge.catalog.compare import Fact

#: Instance families of which the catalogue has every size.
COMPLETE = {
    *("p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "g4dn", "g5", "g6", "gr6", "g6e", "g7e"),
    *("trn1", "trn1n", "trn2", "m7i", "c7i", "r7i", "m7g", "c7gn", "t3", "t4g"),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """A fact of the catalogue and of a peer. None: the fact is missing there."""

    peer: str
    subject: str
    fact: str
    ours: Fact
    theirs: Fact


def joined(values: Iterable[object]) -> str:
    """Return a list as one value."""
    return ", ".join(str(value) for value in values)


def snake(word: str) -> str:
    """Return a word in snake case: `maxIO` as `max_io`, `SINGLE_AZ_1` as `single_az_1`, `capacity-block` as
    `capacity_block`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower().replace("-", "_")
