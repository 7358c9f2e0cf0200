"""The page of the catalogue: its files, its instance types with their sources, and where other sources say otherwise."""

from collections import Counter
from importlib.resources import files
from pathlib import Path

from landbridge import yaml_text
from landbridge.catalog import InstanceType, instances, prices
from landbridge.catalog.differences import KnownDifference, known_differences

_INTRODUCTION = """\
Facts about AWS and about machines are data, in `landbridge/catalog/`: every file says where its facts are from and on which day
they were so, and a row may say otherwise for itself. An unknown fact is left out; code that needs it says so. Readers are in
`landbridge.catalog`; `landbridge catalog list`, `show` and `diff` look into it from a shell.
[Add an instance type](../how-to/add-an-instance-type.md) tells how a row comes in.
"""
_VERDICTS = {"ours": "the catalogue", "theirs": "the other", "both": "both", "unknown": "not known"}


def page() -> str:
    """docs/reference/catalogue.md."""
    lines = ["# The catalogue", "", _INTRODUCTION, "## Files", "", "| file | as of | from |", "| --- | --- | --- |"]
    lines += [_row(f"`{name}`", day, source) for name, day, source in _files()]
    lines += ["", *_types(), "", *_prices(), "", *_differences()]
    return "\n".join(lines) + "\n"


def _files() -> list[tuple[str, str, str]]:
    folder = Path(str(files("landbridge.catalog")))
    found = []
    for path in sorted(folder.glob("*.yaml")):
        data = yaml_text.load(path.read_text())
        source = data.get("source") or "each part of it says"
        found.append((path.name, str(data["date"]), str(source)))
    return found


def _types() -> list[str]:
    kinds = list(instances().values())
    sources = {source: number for number, source in enumerate(dict.fromkeys(kind.source for kind in kinds), 1)}
    lines = [
        "## Instance types",
        "",
        f"{len(kinds)} types of {len(instances().families)} families. Cards that carry EFA, of all cards; the numbers are the",
        "sources below.",
        "",
        "| type | accelerators | vCPUs | memory GiB | NVMe GB | network Gbps | EFA | bought as | source |",
        "| --- | --- | --: | --: | --: | --: | --: | --- | --- |",
    ]
    lines += [_type(kind, sources[kind.source]) for kind in kinds]
    lines += ["", *(f"{number}. {source}." for source, number in sources.items())]
    return lines


def _type(kind: InstanceType, source: int) -> str:
    found = kind.accelerators
    return _row(
        f"`{kind.name}`",
        f"{found.count} {found.type}" if found else "",
        str(kind.cpus.logical),
        str(kind.memory_mib // 1024),
        str(kind.nvme_gb),
        f"{kind.network_gbps:g}",
        f"{len(kind.efa_cards)}/{len(kind.cards)}",
        ", ".join(kind.purchase),
        f"{source}, {kind.date}",
    )


def _prices() -> list[str]:
    listed = prices()
    counted = Counter(
        {
            name: sum(len(row.usd) * len(row.regions) for row in listed.rows if row.source == name)
            for name in listed.sources
        }
    )
    lines = [
        "## Prices",
        "",
        "A price has a unit, a place and a day; `landbridge cost` prints the day beside every figure. Rows marked *verify* have no",
        "source worth the name and are to be checked against the price list.",
        "",
        "| source | as of | confidence | prices |",
        "| --- | --- | --- | --: |",
    ]
    lines += [
        _row(source.title, str(source.date), source.confidence, str(counted[name]))
        for name, source in listed.sources.items()
    ]
    return lines


def _differences() -> list[str]:
    lines = [
        "## Where other sources say otherwise",
        "",
        "A test compares every fact that moto's instance data, botocore's service models or cfn-lint's schemas hold too. These are",
        "all the differences there are; the test fails for a new one, and for one that has vanished.",
        "",
        "| fact | the catalogue | the other | who is right, and why |",
        "| --- | --- | --- | --- |",
    ]
    for difference in sorted(known_differences(), key=lambda known_difference: known_difference.peer):
        what = f"{', '.join(difference.subjects)}: {', '.join(difference.facts)}"
        other = f"{difference.peer}: {_value(difference.theirs)}"
        lines.append(_row(what, _value(difference.ours), other, f"{_verdict(difference)}. {difference.why}"))
    return lines


def _verdict(known: KnownDifference) -> str:
    return f"*{_VERDICTS[known.right]}*"


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
