"""Findings about the form of the file, which loading reports before any rule runs."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormFinding:
    """Reason and source of a finding about the file's form; it cannot be suppressed."""

    why: str
    source: str


_MODEL = "the environment's own model, docs/reference/environment.md"
_YAML = "YAML 1.2.2"

FORM_FINDINGS: Mapping[str, FormFinding] = {
    "unreadable-file": FormFinding("The file can be read.", "the operating system"),
    "no-environment": FormFinding("The environment named with -s has a file in stacks.", "Pulumi's stackConfigDir"),
    "no-project": FormFinding(
        "The command runs inside a checkout, which contains the stacks.", "Pulumi's project lookup"
    ),
    "bad-yaml": FormFinding("The text is YAML. A file that cannot be parsed has no other findings.", _YAML),
    "duplicate-key": FormFinding(
        "A mapping has each key once. YAML forbids two, but most parsers keep the last one without an error, so that an "
        "edit has no effect.",
        f"{_YAML}, section 3.2.1.1",
    ),
    "unknown-key": FormFinding(
        "Every key is a key of the model: otherwise a misspelt key would be ignored without an error.",
        _MODEL,
    ),
    "missing-key": FormFinding("Every key without a default is written.", _MODEL),
    "wrong-type": FormFinding(
        'Values have their type: a version is text ("26.05"; without quotes it is the number 26.05, and 25.10 would be '
        "25.1), a count is a whole number.",
        _MODEL,
    ),
    "wrong-format": FormFinding("Ids, ranges, ARNs, times and names have the form that AWS and Slurm accept.", _MODEL),
    "out-of-range": FormFinding("Numbers and lengths are within the limits of their key.", _MODEL),
    "unknown-value": FormFinding("A key with a fixed list of values has one of them.", _MODEL),
    "node-range": FormFinding("A host range has Slurm's form, such as dgx[01-04].", "Slurm's hostlist syntax"),
}
