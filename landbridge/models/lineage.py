"""Lineage of a model version: dataset, commit, container, run, job and cost, in the manifest and as tags of the registry."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

#: Prefix of the tag keys of a model version.
TAG_PREFIX = "landbridge.lineage."


@dataclass(frozen=True, slots=True)
class ModelLineage:
    """Origin of a model version. An empty value is not known.

    `dataset` is NAME@VERSION of a dataset's manifest, `commit` a Git commit, `container` an image digest, `run` an MLflow
    run, `job` a Slurm job, and `cost` an amount with its currency.
    """

    dataset: str = ""
    commit: str = ""
    container: str = ""
    run: str = ""
    job: str = ""
    cost: str = ""

    @classmethod
    def parse(cls, data: object) -> "ModelLineage | str":
        """Return the lineage of plain data, or the reason why it is not valid."""
        if not isinstance(data, Mapping):
            return "its lineage is not an object"
        unknown = sorted(str(key) for key in data if key not in FIELDS)
        if unknown:
            return f"its lineage has unknown keys: {', '.join(unknown)}"
        wrong = sorted(key for key, value in data.items() if not isinstance(value, str))
        if wrong:
            return f"its lineage has values that are not text: {', '.join(wrong)}"
        return cls(**data)

    def to_dict(self) -> dict[str, str]:
        """Return the known values as plain data."""
        return {name: value for name in FIELDS if (value := getattr(self, name))}

    def tags(self) -> dict[str, str]:
        """Return the known values as tags of a model version."""
        return {f"{TAG_PREFIX}{name}": value for name, value in self.to_dict().items()}

    def missing(self) -> list[str]:
        """Return the names of values that are not known."""
        return [name for name in FIELDS if not getattr(self, name)]


FIELDS = tuple(field.name for field in fields(ModelLineage))


def lineage_of_tags(tags: Mapping[str, str]) -> ModelLineage:
    """Return the lineage that the tags of a model version contain."""
    return ModelLineage(**{name: tags.get(f"{TAG_PREFIX}{name}", "") for name in FIELDS})
