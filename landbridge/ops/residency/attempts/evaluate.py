"""Evaluation of the attempts: the answer of every layer, each as if the others did not exist."""

from dataclasses import dataclass
from typing import Any

from landbridge.catalog.residency_attempts import ResidencyAttempt, residency_attempts
from landbridge.findings import Finding, Severity
from landbridge.ops.residency.attempts.aws_layers import AWS_LAYERS
from landbridge.ops.residency.attempts.site_layers import SITE_LAYERS
from landbridge.ops.residency.attempts.subject import AttemptSubject, attempt_subject
from landbridge.ops.residency.compiled import CompiledForms

LAYERS = {**SITE_LAYERS, **AWS_LAYERS}


@dataclass(frozen=True, slots=True)
class LayerAnswer:
    """Answer of a layer. `refuses` is None if the environment does not have the layer."""

    layer: str
    refuses: bool | None


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Answers of an attempt's layers, the first one first. No answer: the environment has no part that it attacks."""

    name: str
    attempt: ResidencyAttempt
    data_class: str
    answers: tuple[LayerAnswer, ...]

    @property
    def refusing(self) -> tuple[str, ...]:
        """Return the layers that refuse it."""
        return tuple(answer.layer for answer in self.answers if answer.refuses)

    @property
    def is_refused(self) -> bool:
        """Return whether a layer refuses it, or nothing of the environment could permit it."""
        return bool(self.refusing) or not any(answer.refuses is False for answer in self.answers)

    def finding(self) -> Finding | None:
        """Return the finding about an attempt that no layer refuses (error) or that only one refuses (warning)."""
        open_layers = [answer.layer for answer in self.answers if answer.refuses is False]
        if not open_layers:
            return None
        path = ("data_classes", self.data_class, "sites")
        tried = f"{self.name} ({self.attempt.description})"
        if not self.refusing:
            message = f"no layer refuses the attempt {tried} with data of class {self.data_class}"
            return Finding("residency-attempt", message, path, f"see {', '.join(open_layers)}", Severity.ERROR)
        message = f"the attempt {tried} passes {', '.join(open_layers)}; it is refused by {', '.join(self.refusing)}"
        return Finding("residency-attempt", message, path, "run landbridge residency prove", Severity.WARNING)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        layers = {answer.layer: answer.refuses for answer in self.answers}
        return {"attempt": self.name, "try": self.attempt.description, "layers": layers}


def evaluate_attempts(forms: CompiledForms) -> tuple[AttemptResult, ...]:
    """Return the result of every attempt; none if no class with an account must stay on-prem."""
    subject = attempt_subject(forms)
    if subject is None:
        return ()
    return tuple(_result(forms, subject, name, attempt) for name, attempt in residency_attempts().attempts.items())


def _result(forms: CompiledForms, subject: AttemptSubject, name: str, attempt: ResidencyAttempt) -> AttemptResult:
    applies = _reaches_aws(forms, subject, attempt)
    answers = tuple(
        LayerAnswer(layer, LAYERS[layer](forms, subject, attempt) if applies else None) for layer in attempt.layers
    )
    return AttemptResult(name, attempt, subject.data_class, answers)


def _reaches_aws(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool:
    """Return whether a partition of the attempt has nodes in AWS, or is unknown: the default one may be on-prem."""
    if not attempt.partition or "partition_nodes" in attempt.layers:
        return True
    sites = {form.name: form.sites for form in forms.partitions}
    return any("aws" in sites.get(name, ("aws",)) for name in subject.text(attempt.partition).split(","))
