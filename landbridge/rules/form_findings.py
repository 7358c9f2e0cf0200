"""Findings of loading about the form of the file. They come before the rules."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormFinding:
    """A finding about the file's form; it cannot be suppressed."""

    why: str
    source: str


_MODEL = "the environment's own model, docs/reference/environment.md"
_YAML = "YAML 1.2.2"

FORM_FINDINGS: Mapping[str, FormFinding] = {
    "unreadable-file": FormFinding("The file can be read.", "the operating system"),
    "no-environment": FormFinding("The environment named with -s has a file in stacks.", "Pulumi's stackConfigDir"),
    "no-project": FormFinding(
        "The command runs inside a checkout, so that it knows where the stacks are.", "Pulumi's project lookup"
    ),
    "bad-yaml": FormFinding("The text is YAML. A file that cannot be parsed has no other findings.", _YAML),
    "duplicate-key": FormFinding(
        "A key stands once in its mapping. YAML forbids two, yet most readers silently keep the last, so half of an "
        "edit is lost.",
        f"{_YAML}, section 3.2.1.1",
    ),
    "unknown-key": FormFinding(
        "Only keys of the model: a misspelt key would otherwise be ignored, and its default used in silence.", _MODEL
    ),
    "missing-key": FormFinding("What has no default is written down.", _MODEL),
    "wrong-type": FormFinding(
        'Values have their type: a version is text ("26.05"; without quotes it is the number 26.05, and 25.10 would be '
        "25.1), a count is a whole number.",
        _MODEL,
    ),
    "wrong-format": FormFinding("Ids, ranges, ARNs, times and names have the form that AWS and Slurm accept.", _MODEL),
    "out-of-range": FormFinding("Numbers and lengths are inside the limits of what they are for.", _MODEL),
    "unknown-value": FormFinding("Where there is a choice of words, one of them is written.", _MODEL),
    "node-range": FormFinding("A host range is written as Slurm writes it, dgx[01-04].", "Slurm's hostlist syntax"),
}
