"""Reader of the catalogue's YAML files, in this package or in another folder with the same layout."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from landbridge import hostlist, yaml_text
from landbridge.catalog.parsed import parsed

Folder = Traversable


class CatalogueError(Exception):
    """Unreadable or invalid file of the catalogue; the message contains the file and the errors."""


class Facts(BaseModel):
    """Immutable pydantic model of facts that rejects unknown keys."""

    # defer_build: a model that is only part of another one needs no separate validator, which takes a millisecond each.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_T = TypeVar("_T", bound=BaseModel)


@cache
def package() -> Folder:
    """Return the folder of Landbridge's catalogue."""
    return files("landbridge.catalog")


def names(folder: Folder, inside: str = "") -> Iterator[str]:
    """Return the names of the YAML files in `folder` or its subfolder `inside`, without suffix, unordered."""
    start = folder.joinpath(inside) if inside else folder
    return (entry.name.removesuffix(".yaml") for entry in start.iterdir() if entry.name.endswith(".yaml"))


def load(folder: Folder, name: str) -> Any:
    """Return the plain data of one file, `instances/p5` for instances/p5.yaml. Raises CatalogueError."""
    file = folder.joinpath(*f"{name}.yaml".split("/"))
    try:
        if folder == package() and isinstance(file, Path):
            return parsed(file)
        return yaml_text.load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CatalogueError(f"{name}.yaml: {error.strerror or error}") from None
    except yaml_text.BadYaml as error:
        raise CatalogueError(f"{name}.yaml: {error}") from None


def validate(name: str, model: type[_T], data: Any) -> _T:
    """Return the `data` of the file `name` as `model`. Raises CatalogueError with every invalid field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'file'}: {fault['msg']}" for fault in error.errors()
        ]
        raise CatalogueError(f"{name}.yaml: " + "; ".join(lines)) from None


def read(name: str, model: type[_T], folder: Folder | None = None) -> _T:
    """Read and validate a file. Raises CatalogueError."""
    return validate(name, model, load(folder or package(), name))


def _ids(text: object) -> object:
    # YAML folds a long list over several lines, which leaves a space at each line break.
    return tuple(hostlist.expand(text.replace(" ", ""))) if isinstance(text, str) and text else text or ()


#: Names written as a host list, `use1-az[1-6]`.
Ids = Annotated[tuple[str, ...], BeforeValidator(_ids)]
