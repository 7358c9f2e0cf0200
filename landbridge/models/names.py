"""Names of models, versions and aliases: the permitted ones, and the reasons against others.

Source (2026-11-26): Amazon SageMaker API Reference, `ModelPackageGroupName` (pattern and length of 63), and Amazon SageMaker
Developer Guide, "Automatically register MLflow models", which leaves 57 of them to a name. MLflow itself refuses `/` and `:`.
"""

import re

LONGEST_NAME = 57
_NAME = re.compile(r"[A-Za-z0-9](?:-*[A-Za-z0-9])*")
_VERSION = re.compile(r"[1-9][0-9]{0,8}")
MANIFEST_FILE, SIGNATURE_FILE = "model.json", "model.sig"
#: Weights of a model folder: the only file beside the manifest and the signature.
WEIGHT_FILES = {"onnx": "model.onnx", "safetensors": "model.safetensors"}


def model_name_fault(name: str) -> str | None:
    """Return the reason why a model cannot have a name in MLflow and in SageMaker; None if it can."""
    if len(name) > LONGEST_NAME:
        return f'the name "{name}" has {len(name)} characters; SageMaker takes at most {LONGEST_NAME}'
    if not _NAME.fullmatch(name):
        return (
            f'"{name}" is not a name of a model: letters, digits and hyphens, with a letter or a digit at both ends '
            f"(at most {LONGEST_NAME})"
        )
    return None


def model_version_fault(version: str) -> str | None:
    """Return the reason why a text is not the number of a registry's model version; None if it is."""
    return None if _VERSION.fullmatch(version) else f'"{version}" is not the number of a model version'


def parse_model_reference(text: str) -> tuple[str, str]:
    """Return name and version or alias of `NAME/VERSION` or `NAME@ALIAS`. Raises ValueError with the reason.

    An alias keeps its `@`: the result of `digits@champion` is `("digits", "@champion")`.
    """
    name, mark, rest = text.partition("/")
    if not mark:
        name, mark, rest = text.partition("@")
        rest = f"@{rest}"
    if not mark:
        raise ValueError(f'"{text}" is neither NAME/VERSION nor NAME@ALIAS')
    fault = model_name_fault(name) or (None if rest.startswith("@") else model_version_fault(rest))
    if fault is not None:
        raise ValueError(fault)
    return name, rest
