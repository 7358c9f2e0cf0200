"""Table of attempts in docs/explanation/residency.md, from landbridge/catalog/residency_attempts.yaml."""

from collections.abc import Iterator
from pathlib import Path

from landbridge.catalog.residency_attempts import residency_attempts

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "residency.md"
BEGIN = "<!-- attempts: made by docs/generate.py from landbridge/catalog/residency_attempts.yaml -->"
END = "<!-- end of attempts -->"


def page() -> str:
    """Return residency.md with the table between its two marks replaced."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{''.join(rows())}{END}{tail}"


def rows() -> Iterator[str]:
    """Yield the table: each attempt with its first layer, then the next ones."""
    table = residency_attempts()
    yield "\n| attempt | refused by | with that layer off, by |\n| --- | --- | --- |\n"
    for name, attempt in table.attempts.items():
        first, *others = (table.layers[layer] for layer in attempt.layers)
        yield f"| `{name}`: {attempt.description} | {first} | {'; then '.join(others)} |\n"
    yield "\n"
