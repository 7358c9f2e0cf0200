"""Layer tables of docs/explanation/architecture.md, from the contracts in .importlinter and the packages' docstrings."""

import ast
import configparser
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
BEGIN, END = "<!-- layers: made by docs/generate.py from .importlinter -->", "<!-- end of layers -->"


def page() -> str:
    """Return architecture.md with the tables between its two marks replaced."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{''.join(tables())}{END}{tail}"


def tables() -> Iterator[str]:
    """Yield one table for each contract of layers, the top layer first; an empty row ends a layer."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    for name in contracts.sections():
        section = contracts[name]
        if section.get("type") != "layers":
            continue
        container = section.get("containers", "").strip()
        yield f"\n**{section['name']}**\n\n| layer | purpose |\n| --- | --- |\n"
        for row in section["layers"].strip().splitlines():
            for module in re.split(r"[|:]", row):
                dotted = ".".join(part for part in (container, module.strip(" ()")) if part)
                yield f"| `{dotted}` | {purpose(dotted)} |\n"
            yield "| | |\n"
    yield "\n"


def purpose(dotted: str) -> str:
    """Return the first sentence of a package's or module's docstring."""
    path = ROOT / dotted.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = re.match(r".+?\.(?= [A-Z]|$)", paragraph)
    return (sentence[0] if sentence else paragraph).replace("|", "\\|")
