"""Explanation of a rule for `landbridge explain`: its reason, its source, and mistakes that break it."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from landbridge.rules.form_findings import FORM_FINDINGS
from landbridge.rules.registry import RULES

#: Made by docs/generate.py from the tests' rows.
EXAMPLES = "examples.json"
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Example:
    """One mistake: the text of the file, and the message. A `fix` is not always known."""

    title: str
    written: str
    says: str
    fix: str | None
    where: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One rule in words. `where`: check or preflight."""

    name: str
    topic: str
    summary: str
    why: str
    source: str
    suppressible: bool
    where: str
    examples: tuple[Example, ...]

    def lines(self) -> Iterator[str]:
        """The explanation as a person reads it in a terminal."""
        yield f"{self.name} ({self.where}{f': {self.topic}' if self.topic != self.where else ''})"
        for paragraph in self.why.splitlines():
            yield ""
            yield from textwrap.wrap(paragraph, _WIDTH)
        yield ""
        yield from textwrap.wrap(f"Source: {self.source}", _WIDTH)
        for example in self.examples:
            yield ""
            yield f"{example.title}:"
            yield from (f"    {line}" for line in example.written.splitlines())
            yield f"  -> {example.says}"
            if example.fix:
                yield f"     {example.fix}"
        yield ""
        if self.suppressible:
            yield f"To accept it:  suppress: [{{rule: {self.name}, reason: ...}}]"
        else:
            yield "It cannot be suppressed."


def explanations() -> dict[str, Explanation]:
    """Every rule of check by name: first those about the file's form, then by topic."""
    form = [
        Explanation(
            name, "the file's form", _first_sentence(form_rule.why), form_rule.why, form_rule.source, False, "check", ()
        )
        for name, form_rule in FORM_FINDINGS.items()
    ]
    rules = [
        Explanation(r.name, r.topic, r.summary, r.why, r.source, r.suppressible, "check", ())
        for r in sorted(RULES.values(), key=lambda rule: rule.topic)
    ]
    return {entry.name: with_examples(entry) for entry in (*form, *rules)}


def with_examples(explanation: Explanation) -> Explanation:
    """An explanation with the mistakes that the tests make of its rule."""
    return replace(explanation, examples=_examples().get(explanation.name, ()))


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "."


@cache
def _examples() -> Mapping[str, tuple[Example, ...]]:
    file = files("landbridge.rules").joinpath(EXAMPLES)
    data: dict[str, list[dict[str, Any]]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: tuple(Example(**fields) for fields in rule_examples) for name, rule_examples in data.items()}
