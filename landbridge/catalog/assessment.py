"""Questions, inputs and rules of `landbridge assess` (assessment.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from landbridge.catalog.aws.prices import PriceSource
from landbridge.catalog.files import Facts, read


class AssessedGpu(Facts):
    """Platform and instance type that have one GPU model. `node_usd`: lowest and highest price of a node without fabric."""

    platform: str
    instance: str
    node_usd: tuple[float, float] | None = None
    source: str | None = None


class AssessmentRule(Facts):
    """Rule of a sentence: a sourced fact, a derived figure, or a judgement with its reason."""

    text: str
    value: float | None = None
    unit: str | None = None
    source: str | None = None
    derived: str | None = None
    judgement: str | None = None

    @model_validator(mode="after")
    def _has_one_basis(self) -> "AssessmentRule":
        if sum(basis is not None for basis in (self.source, self.derived, self.judgement)) != 1:
            raise ValueError("a rule has exactly one of source, derived and judgement")
        return self

    @property
    def basis(self) -> Literal["source", "derived", "judgement"]:
        """Return the kind of the rule's basis."""
        return "source" if self.source is not None else "derived" if self.derived is not None else "judgement"


class Question(Facts):
    """Question of the questionnaire. `key` is the answer's path; `choices` is a list, or the name of one."""

    key: str
    kind: Literal["text", "choice", "number", "percent", "sites", "list"]
    ask: str
    default: str | float | None = None
    choices: str | tuple[str, ...] = ()
    fields: tuple["Question", ...] = ()


class AssessmentFacts(Facts):
    """Facts of assessment.yaml. `inputs`: those of onprem_costs.yaml that a sensitivity varies, with their names in words."""

    source: str
    as_of: date = Field(alias="date")
    sources: Mapping[str, PriceSource]
    gpus: Mapping[str, AssessedGpu]
    regions: tuple[str, ...]
    reference_regions: tuple[str, ...]
    inputs: Mapping[str, str]
    rules: Mapping[str, AssessmentRule]
    sensitivity: Mapping[str, tuple[float, ...]]
    questions: tuple[Question, ...]

    @model_validator(mode="after")
    def _sources_are_named(self) -> "AssessmentFacts":
        rows: tuple[AssessmentRule | AssessedGpu, ...] = (*self.rules.values(), *self.gpus.values())
        used = {row.source for row in rows if row.source is not None}
        if used - set(self.sources):
            raise ValueError(f"sources that are not listed: {', '.join(sorted(used - set(self.sources)))}")
        return self

    def threshold(self, rule: str) -> float:
        """Return the value of a rule. Raises ValueError for a rule without one."""
        value = self.rules[rule].value
        if value is None:
            raise ValueError(f"the rule {rule} has no value")
        return value


@cache
def assessment_facts() -> AssessmentFacts:
    """Return the facts of the questionnaire (cached)."""
    return read("assessment", AssessmentFacts)
