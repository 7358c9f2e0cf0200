"""Inputs and outputs of two versions of a model, compared as clients see them: names, datatypes and shapes."""

from collections.abc import Iterator

from landbridge.models.manifest import ModelManifest, ModelTensor


def interface_changes(champion: ModelManifest, candidate: ModelManifest) -> list[str]:
    """Return the reasons why clients of one version cannot use another one; empty if they can.

    Requests to the champion must fit the candidate's inputs, and its answers must fit the champion's outputs. Names decide, not
    the order (Open Inference Protocol, version 2, "Inference"). A dimension of -1 fits any size. An added output is no change.
    """
    return [
        *_changes("input", champion.inputs, candidate.inputs),
        *(f"the input {name} is new" for name in _added(champion.inputs, candidate.inputs)),
        *_changes("output", champion.outputs, candidate.outputs),
    ]


def _changes(kind: str, before: tuple[ModelTensor, ...], after: tuple[ModelTensor, ...]) -> Iterator[str]:
    present = {tensor.name: tensor for tensor in after}
    for old in before:
        new = present.get(old.name)
        if new is None:
            yield f"the {kind} {old.name} is absent"
            continue
        if old.datatype != new.datatype:
            yield f"the {kind} {old.name} is {new.datatype}, before {old.datatype}"
        wide, narrow = (new, old) if kind == "input" else (old, new)
        if not _fits(narrow.shape, wide.shape):
            yield f"the {kind} {old.name} has the shape {list(new.shape)}, before {list(old.shape)}"


def _added(before: tuple[ModelTensor, ...], after: tuple[ModelTensor, ...]) -> list[str]:
    known = {tensor.name for tensor in before}
    return [tensor.name for tensor in after if tensor.name not in known]


def _fits(narrow: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    return len(narrow) == len(wide) and all(w in (-1, n) for n, w in zip(narrow, wide, strict=True))
