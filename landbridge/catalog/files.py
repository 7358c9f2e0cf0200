"""Reading the catalogue's files: YAML of this package, or of another folder with the same layout."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from landbridge import hostlist, yaml_text

Folder = Traversable


class CatalogueError(Exception):
    """A file of the catalogue that cannot be read; says which, and what is wrong with it."""


class Facts(BaseModel):
    """Row of facts: immutable, and closed to unknown keys."""

    # defer_build: a model that is only part of another needs no validator of its own, which takes a millisecond each.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_T = TypeVar("_T", bound=BaseModel)


def package() -> Folder:
    """The folder of the catalogue that comes with Landbridge."""
    return files("landbridge.catalog")


def names(folder: Folder, inside: str = "") -> Iterator[str]:
    """The names of the YAML files in `folder`, or in one of its folders, without their ending; in no order."""
    start = folder.joinpath(inside) if inside else folder
    return (entry.name.removesuffix(".yaml") for entry in start.iterdir() if entry.name.endswith(".yaml"))


def load(folder: Folder, name: str) -> Any:
    """The plain data of one file, `instances/p5` for instances/p5.yaml. Raises CatalogueError."""
    try:
        text = folder.joinpath(*f"{name}.yaml".split("/")).read_text(encoding="utf-8")
    except OSError as error:
        raise CatalogueError(f"{name}.yaml: {error.strerror or error}") from None
    try:
        return yaml_text.load(text)
    except yaml_text.BadYaml as error:
        raise CatalogueError(f"{name}.yaml: {error}") from None


def validate(name: str, model: type[_T], data: Any) -> _T:
    """`data` of the file `name` as `model`. Raises CatalogueError that names every wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'file'}: {fault['msg']}" for fault in error.errors()
        ]
        raise CatalogueError(f"{name}.yaml: " + "; ".join(lines)) from None


def read(name: str, model: type[_T], folder: Folder | None = None) -> _T:
    """Read a file as its model. Raises CatalogueError."""
    return validate(name, model, load(folder or package(), name))


def _ids(text: object) -> object:
    # A long list is folded over several lines, which leaves a space at each fold.
    return tuple(hostlist.expand(text.replace(" ", ""))) if isinstance(text, str) and text else text or ()


#: Names written as a host list, `use1-az[1-6]`.
Ids = Annotated[tuple[str, ...], BeforeValidator(_ids)]
