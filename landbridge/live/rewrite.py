"""Writer of reviewed facts into the catalogue's files: zones, purchase options and network cards of a row.

The rest of a file (comments, order, every other fact) is unchanged, so that version control shows the change alone.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from landbridge.catalog.aws.instances import Instances, InstanceType
from landbridge.catalog.compare import Difference
from landbridge.catalog.files import CatalogueError
from landbridge.hostlist import compress
from landbridge.live.refresh import Described

_WIDTH = 116
_KEY = re.compile(r"^ {4}([a-z_]+):")


def write(
    folder: Path, differences: Iterable[Difference], descriptions: Iterable[Described], today: date
) -> tuple[str, ...]:
    """Write the writable part of `differences` into the catalogue in `folder`; return the types that changed.

    Raises CatalogueError, and restores the file, if the result cannot be read.
    """
    ours, answers = Instances(folder), tuple(descriptions)
    source = (
        f"EC2 DescribeInstanceTypes and DescribeInstanceTypeOfferings, {', '.join(answer.region for answer in answers)}"
    )
    rows = _rows(ours, differences, answers)
    for family in {name.partition(".")[0] for name in rows}:
        path = folder / "instances" / f"{family}.yaml"
        before = path.read_text(encoding="utf-8")
        text = before
        for name, lines in rows.items():
            if name.startswith(f"{family}."):
                dated = {**lines, "source": [f"    source: {source}"], "date": [f"    date: {today}"]}
                text = _with(text, name, dated)
        path.write_text(text, encoding="utf-8")
        try:
            Instances(folder).family(family)
        except CatalogueError:
            path.write_text(before, encoding="utf-8")
            raise
    return tuple(sorted(rows))


def _rows(
    ours: Mapping[str, InstanceType], differences: Iterable[Difference], answers: tuple[Described, ...]
) -> dict[str, dict[str, list[str]]]:
    """Return the new lines by key, of each type that changes."""
    described = {str(kind["InstanceType"]): kind for answer in answers for kind in answer.types}
    queried_zones = frozenset[str]().union(*(answer.zones for answer in answers))
    offered: dict[str, set[str]] = {}
    for offer in (offer for answer in answers for offer in answer.offerings):
        offered.setdefault(str(offer["InstanceType"]), set()).add(str(offer["Location"]))
    rows: dict[str, dict[str, list[str]]] = {}
    for difference in differences:
        name = difference.subject
        if name not in ours:
            continue
        if difference.fact == "zones":
            zones = (set(ours[name].zones) - queried_zones) | offered.get(name, set())
            rows.setdefault(name, {})["zones"] = _folded("zones", compress(sorted(zones)))
        elif difference.fact == "purchase" and isinstance(difference.theirs, tuple):
            rows.setdefault(name, {})["purchase"] = [f"    purchase: [{', '.join(_bought(difference.theirs))}]"]
        elif difference.fact.split(".")[0] == "cards" and name in described:
            rows.setdefault(name, {})["cards"] = _cards(ours[name], described[name])
    return rows


def _bought(words: tuple[str, ...]) -> list[str]:
    order = ("on_demand", "spot", "capacity_block")
    return [word for word in order if word in words]


def _cards(ours: InstanceType, described: Mapping[str, Any]) -> list[str]:
    """Return one line for each run of equal cards; fields that EC2 omits stay as in the catalogue."""
    runs: list[tuple[int, int, str]] = []
    cards_by_index = {card.index: card for card in ours.cards}
    for card in sorted(
        described["NetworkInfo"]["NetworkCards"], key=lambda network_card: int(network_card["NetworkCardIndex"])
    ):
        index, known = int(card["NetworkCardIndex"]), cards_by_index.get(int(card["NetworkCardIndex"]))
        gbps = card.get("PeakBandwidthInGbps", known.gbps if known is not None else None)
        order = ("interface", "efa", "efa-only")
        types = [
            interface_type
            for interface_type in order
            if interface_type in (card.get("InterfaceTypes") or (known.types if known is not None else ()))
        ]
        if gbps is None or not types:
            raise CatalogueError(f"EC2 does not report the bandwidth or interface types of card {index} of {ours.name}")
        text = f"interfaces: {card['MaximumNetworkInterfaces']}, gbps: {gbps:g}, types: [{', '.join(types)}]"
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], index, text)
        else:
            runs.append((index, index, text))
    card_ranges = (f"{first}" if first == last else f"{first}-{last}" for first, last, _ in runs)
    return [
        "    cards:",
        *(
            f'      - {{cards: "{card_range}", {text}}}'
            for card_range, (_, _, text) in zip(card_ranges, runs, strict=True)
        ),
    ]


def _folded(key: str, text: str) -> list[str]:
    """Return a long list of zones folded at commas, as in the files."""
    if len(text) <= _WIDTH - len(key) - 8:
        return [f'    {key}: "{text}"']
    lines, line = [f"    {key}: >-"], ""
    # A comma inside brackets belongs to its range.
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?,?", text):
        if line and len(line) + len(part) > _WIDTH - 6:
            lines.append(f"      {line}")
            line = ""
        line += part
    return [*lines, f"      {line}"]


def _with(text: str, name: str, keys: Mapping[str, list[str]]) -> str:
    """Return `text` with these keys of one type replaced, or added at the end of its row."""
    lines = text.splitlines()
    try:
        start = lines.index(f"  {name}:")
    except ValueError:
        raise CatalogueError(f"{name} has no row in its file") from None
    end = next(
        (
            number
            for number in range(start + 1, len(lines))
            if lines[number].strip() and not lines[number].startswith("    ")
        ),
        len(lines),
    )
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    row: list[str] = []
    remaining = dict(keys)
    skipping = False
    for line in lines[start + 1 : end]:
        match = _KEY.match(line)
        if match is not None:
            skipping = match[1] in keys
            if skipping and match[1] in remaining:
                row += remaining.pop(match[1])
        elif line.startswith("    #"):
            skipping = False  # a comment belongs to what follows it
        if not skipping:
            row.append(line)
    for lines_of_key in remaining.values():
        row += lines_of_key
    return "\n".join([*lines[: start + 1], *row, *lines[end:]]) + "\n"
