"""Table of docs/how-to/choose-an-environment.md, from the environments and their prices.

`python docs/environments.py` writes it into the page.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from landbridge.plan.cost import Spend

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]
PAGE = ROOT / "docs" / "how-to" / "choose-an-environment.md"
BEGIN, END = "<!-- Made by docs/environments.py -->", "<!-- end -->"


def table() -> str:
    """Return a row for each environment, sorted by name: its machines, and its cost by `landbridge cost`."""
    from landbridge.environment import load_environment
    from landbridge.hostlist import expand
    from landbridge.plan.cost import aws_spend

    lines = [
        "| environment | on-prem nodes | nodes in AWS, at most | region | a month, all nodes running | a month, without jobs | without a known price |",
        "| --- | --- | --- | --- | ---: | ---: | --- |",
    ]
    for path in sorted((ROOT / "stacks").glob("Pulumi.*.yaml")):
        environment = load_environment(path).environment
        if environment is None:
            raise SystemExit(f"{path} has errors: run landbridge check")
        onprem = _counted((group.platform, len(expand(group.hosts))) for group in environment.node_groups)
        aws = _counted((f"{pool.instance} ({pool.capacity[0].kind})", pool.max_nodes) for pool in environment.aws.pools)
        costs = aws_spend(environment)
        unknown = costs.without_price
        pools = sorted(
            {f"{item.pool}: {item.description}" for item in unknown if item.pool and "volume" not in item.description}
        )
        others = len(unknown) - len(pools)
        missing = [
            *pools,
            *([f"{others} other lines" if pools else f"{others} line{'s' if others > 1 else ''}"] if others else []),
        ]
        cells = (
            f"[{environment.name}](../../stacks/{path.name})",
            onprem,
            aws,
            environment.region,
            *(
                _sums(costs, bool(missing))
                if environment.aws.endpoints.operator is None
                else ("nothing: emulated",) * 2
            ),
            "; ".join(missing),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _counted(items: "Iterable[tuple[str, int]]") -> str:
    counter: Counter[str] = Counter()
    for name, count in items:
        counter[name] += count
    return ", ".join(f"{count} {name}" for name, count in counter.items())


def _sums(costs: "Spend", partly: bool) -> tuple[str, str]:
    """Return the cost with all nodes, and without any job; a lower bound when prices are missing."""
    if not costs.lines:
        return "not known", "not known"
    prefix = "over " if partly else ""
    fixed = "not known" if partly and not costs.fixed_month else f"{prefix}{costs.fixed_month:,.0f} USD"
    return f"{prefix}{costs.usd_month:,.0f} USD", fixed


def with_table(page: str) -> str:
    """Return the page with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(with_table(PAGE.read_text()))


if __name__ == "__main__":
    main()
