"""Page of the catalogue: its files, its instance types with their sources, and differences from other sources."""

from collections import Counter
from importlib.resources import files
from pathlib import Path

from landbridge import yaml_text
from landbridge.catalog import InstanceType, instances, prices
from landbridge.catalog.differences import KnownDifference, known_differences

_INTRODUCTION = """\
Facts about AWS and about machines are data in `landbridge/catalog/`. Every file has the source of its facts and their date; a
row may have its own source and date. An unknown fact is absent; code that needs it reports this. The readers are in
`landbridge.catalog`; the commands `landbridge catalog list`, `show` and `diff` print its contents.
[Add an instance type](../how-to/add-an-instance-type.md) describes how to add a row.
"""
_VERDICTS = {"ours": "the catalogue", "theirs": "the other source", "both": "both", "unknown": "not known"}


def page() -> str:
    """Return docs/reference/catalogue.md, without its first comment."""
    lines = ["# The catalogue", "", _INTRODUCTION, "## Files", "", "| file | date | source |", "| --- | --- | --- |"]
    lines += [_row(f"`{name}`", day, source) for name, day, source in _files()]
    lines += ["", *_types(), "", *_prices(), "", *_differences()]
    return "\n".join(lines) + "\n"


def _files() -> list[tuple[str, str, str]]:
    folder = Path(str(files("landbridge.catalog")))
    rows = []
    for path in sorted(folder.glob("*.yaml")):
        data = yaml_text.load(path.read_text())
        source = data.get("source") or "given for each part of the file"
        rows.append((path.name, str(data["date"]), str(source)))
    return rows


def _types() -> list[str]:
    kinds = list(instances().values())
    sources = {source: number for number, source in enumerate(dict.fromkeys(kind.source for kind in kinds), 1)}
    lines = [
        "## Instance types",
        "",
        f"{len(kinds)} types of {len(instances().families)} families. EFA: network cards with EFA, of all cards. Source: a number of the",
        "list below, and the date.",
        "",
        "| type | accelerators | vCPUs | memory GiB | NVMe GB | network Gbps | EFA | purchase | source |",
        "| --- | --- | --: | --: | --: | --: | --: | --- | --- |",
    ]
    lines += [_type(kind, sources[kind.source]) for kind in kinds]
    lines += ["", *(f"{number}. {source}." for source, number in sources.items())]
    return lines


def _type(kind: InstanceType, source: int) -> str:
    accelerators = kind.accelerators
    return _row(
        f"`{kind.name}`",
        f"{accelerators.count} {accelerators.type}" if accelerators else "",
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
        "A price has a unit, a region and a date; `landbridge cost` prints the date with every price. Rows marked *verify* have",
        "no reliable source: check them with AWS's price list.",
        "",
        "| source | date | confidence | number of prices |",
        "| --- | --- | --- | --: |",
    ]
    lines += [
        _row(source.title, str(source.date), source.confidence, str(counted[name]))
        for name, source in listed.sources.items()
    ]
    return lines


def _differences() -> list[str]:
    lines = [
        "## Differences from other sources",
        "",
        "A test compares every fact that moto's instance data, botocore's service models or cfn-lint's schemas also contain. The table",
        "has all differences; the test fails for a new one, and for one that no longer exists.",
        "",
        "| fact | value in the catalogue | value in the other source | correct source, and reason |",
        "| --- | --- | --- | --- |",
    ]
    for difference in sorted(known_differences(), key=lambda known_difference: known_difference.peer):
        subject = f"{', '.join(difference.subjects)}: {', '.join(difference.facts)}"
        other = f"{difference.peer}: {_value(difference.theirs)}"
        lines.append(_row(subject, _value(difference.ours), other, f"{_verdict(difference)}. {difference.why}"))
    return lines


def _verdict(known: KnownDifference) -> str:
    return f"*{_VERDICTS[known.right]}*"


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
