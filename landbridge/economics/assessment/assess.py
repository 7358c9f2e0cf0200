"""Assessment: all sentences about one organisation, in sections."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import Recommendation, reasons, recommend
from landbridge.economics.assessment.break_even import break_even_sentences, cost_sentences
from landbridge.economics.assessment.phases import Phase, phases
from landbridge.economics.assessment.placements import placements
from landbridge.economics.assessment.sensitivity import sensitivity
from landbridge.economics.assessment.sentences import Sentence
from landbridge.economics.assessment.staffing import staff_sentences


@dataclass(frozen=True, slots=True)
class Assessment:
    """Recommended architecture, its reasons by section, and the path to it."""

    organisation: str
    recommendation: Recommendation
    sections: Mapping[str, tuple[Sentence, ...]]
    phases: tuple[Phase, ...]

    def sentences(self) -> Iterator[Sentence]:
        """Yield every sentence, in the order of the report."""
        for section in self.sections.values():
            yield from section
        for phase in self.phases:
            yield from phase.sentences if phase.trigger is None else (phase.trigger, *phase.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain data, for `--format json`."""
        sizing = self.recommendation.sizing
        return {
            "organisation": self.organisation,
            "architecture": self.recommendation.kind.value,
            "region": self.recommendation.residency.region,
            "sites": {name: list(sites) for name, sites in self.recommendation.residency.sites.items()},
            "sizing": {
                "owned_nodes": sizing.nodes,
                "owned_gpus": sizing.gpus,
                "new_nodes": sizing.new,
                "existing_nodes": sizing.existing,
                "owned_share": sizing.owned_share,
                "aws_peak_gpus": sizing.cloud_peak_gpus,
            },
            "sections": {
                title: [sentence.to_dict() for sentence in section] for title, section in self.sections.items()
            },
            "phases": [
                {
                    "title": phase.title,
                    "owned_nodes": phase.owned_nodes,
                    "aws_peak_gpus": phase.aws_gpus,
                    "trigger": phase.trigger and phase.trigger.to_dict(),
                    "sentences": [sentence.to_dict() for sentence in phase.sentences],
                }
                for phase in self.phases
            ],
        }


def assess(answers: Answers) -> Assessment:
    """Return the assessment of valid answers."""
    result = recommend(answers)
    sections = {
        "reasons": reasons(answers, result),
        "data": placements(answers, result),
        "break-even": break_even_sentences(answers, result),
        "cost": cost_sentences(answers, result),
        "staff": staff_sentences(answers, result),
        "changes": sensitivity(answers, result),
    }
    return Assessment(answers.organisation, result, sections, phases(answers, result))


def report(assessment: Assessment) -> str:
    """Return the report as text: sentences with their rules and dates, then the rules."""
    kind = assessment.recommendation.kind.value
    lines = [f"{assessment.organisation}: {kind}"]
    titles = {
        "break-even": "break-even use",
        "cost": "cost a month",
        "data": "data and work",
        "changes": "what would change it",
    }
    path = ["", "path"]
    for number, phase in enumerate(assessment.phases, 1):
        path.append(f"  {number}. {phase.title}")
        if phase.trigger is not None:
            path += _sentence(phase.trigger, "     when: ")
        for sentence in phase.sentences:
            path += _sentence(sentence, "     ")
    for name, section in assessment.sections.items():
        if name == "data":
            lines += path
        if section:
            lines += ["", titles.get(name, name)]
            for sentence in section:
                lines += _sentence(sentence, "  ")
    return "\n".join([*lines, "", "rules", *_rules(assessment)]) + "\n"


def _sentence(sentence: Sentence, indent: str) -> list[str]:
    dates = f"; {', '.join(sentence.dates)}" if sentence.dates else ""
    return [f"{indent}{sentence.text} [{sentence.rule}{dates}]"]


def _rules(assessment: Assessment) -> Iterator[str]:
    facts = assessment_facts()
    sources: dict[str, str] = {}
    for name in dict.fromkeys(sentence.rule for sentence in assessment.sentences()):
        rule = facts.rules[name]
        basis = {
            "derived": f"derived: {rule.derived}",
            "judgement": f"judgement: {rule.judgement}",
            "source": f"source: {facts.sources[rule.source].title}" if rule.source else "",
        }[rule.basis]
        yield f"  {name}: {rule.text} ({basis})"
    for sentence in assessment.sentences():
        for source in sentence.bases:
            day = source.as_of.isoformat() if source.as_of else "no date"
            sources[source.title] = f"  {day}, {source.confidence}: {source.title}"
    yield ""
    yield "sources"
    yield from sorted(sources.values())
