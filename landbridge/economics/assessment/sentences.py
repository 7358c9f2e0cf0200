"""Sentences of an assessment: one sentence each, with its figures, its rule and its sources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.rates import PriceBasis

Figure = float | int | str | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """Sentence of the report. `rule` is a rule of assessment.yaml; `bases` are the sources of its figures."""

    rule: str
    text: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    bases: tuple[PriceBasis, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as plain data, with the rule's text and basis."""
        rule = assessment_facts().rules[self.rule]
        return {
            "text": self.text,
            "rule": self.rule,
            "rule_text": rule.text,
            "basis": rule.basis,
            "reason": rule.derived or rule.judgement,
            "threshold": rule.value,
            "figures": dict(self.figures),
            "sources": [
                {"title": basis.title, "date": basis.as_of and basis.as_of.isoformat(), "confidence": basis.confidence}
                for basis in self.bases
            ],
        }

    @property
    def dates(self) -> tuple[str, ...]:
        """Return the days of the sources, without duplicates, oldest first."""
        return tuple(sorted({basis.as_of.isoformat() for basis in self.bases if basis.as_of is not None}))


def say(rule: str, text: str, bases: Iterable[PriceBasis] = (), **figures: Figure) -> Sentence:
    """Return a sentence. The source of its rule is added to the bases. Raises KeyError for an unknown rule."""
    facts = assessment_facts()
    source = facts.rules[rule].source
    extra: tuple[PriceBasis, ...] = ()
    if source is not None:
        row = facts.sources[source]
        extra = (PriceBasis(row.title, row.date, row.confidence),)
    return Sentence(rule, text, figures, tuple(dict.fromkeys((*bases, *extra))))


def usd(amount: float) -> str:
    """Return an amount in USD as text, without cents from 1,000 USD on."""
    return f"{amount:,.0f} USD" if abs(amount) >= 1000 or amount == 0 else f"{amount:,.2f} USD"


def percent(share: float) -> str:
    """Return a share (1 is all) as text."""
    return f"{100 * share:.0f} percent"


def count(number: float, noun: str) -> str:
    """Return a number with its noun, such as `1 node` or `12 nodes`; fractions with one digit."""
    text = f"{number:,.0f}" if abs(number - round(number)) < 0.05 else f"{number:,.1f}"
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"
