"""Image lock: the AMI of each image name, written by `landbridge lock` and committed.

A public parameter such as `.../latest/ami-id` resolves to another image every few weeks. Resolved at every `up`, it
would replace launch templates without a change in the file; resolved once, a second `up` changes nothing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from landbridge.environment.base import Model, Text
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, Finding, path_text

HEAD = (
    "# Which image each name stands for. Written by `landbridge lock`, to be committed: images change when this file does.\n"
    "# `landbridge lock -s {name} --upgrade` asks AWS again and shows the difference.\n"
)
BROKEN = "broken-lock"
_BARE = re.compile("[A-Za-z/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})


class LockedImage(Model):
    """Image as AWS described it when its name was resolved. Facts that AWS does not publish are absent."""

    ami: Annotated[str, StringConstraints(pattern=r"^ami-[0-9a-f]{8,17}$")]
    parameter: Text | None = Field(
        default=None, description="parameter that was resolved; none: a node image that Landbridge built"
    )
    source: Text | None = Field(default=None, description="digest of the roles with which a node image was built")
    version: int | None = Field(default=None, ge=1, description="version of the parameter")
    region: Text
    architecture: Literal["x86_64", "arm64"]
    root_device: Text
    root_gib: int | None = Field(default=None, ge=1, description="minimum size of a root volume")
    name: Text | None = None
    created: date | None = None
    deprecated: date | None = Field(default=None, description="date from which AWS no longer lists it")
    driver: Text | None = None
    cuda: Text | None = None
    efa: Text | None = None
    resolved: date


@dataclass(frozen=True, slots=True)
class ImageLock:
    """Locked images by name."""

    images: Mapping[str, LockedImage]

    @property
    def amis(self) -> dict[str, str]:
        """Return the AMI ids by image name, for the plan."""
        return {name: image.ami for name, image in self.images.items()}

    def text(self, environment: str) -> str:
        """Return the text of the lock file, sorted by image name, so that its diff shows the changes."""
        parts = [HEAD.format(name=environment)]
        for name in sorted(self.images):
            data = self.images[name].model_dump(mode="json", exclude_none=True)
            lines = [f"  {key}: {_scalar(value)}\n" for key, value in data.items()]
            parts.append(f"{name}:\n{''.join(lines)}")
        return "".join(parts) if self.images else f"{parts[0]}{{}}\n"


EMPTY = ImageLock({})


def lock_path(environment_file: Path) -> Path:
    """Return the path of an environment's image lock: beside its file, `images.<env>.lock`."""
    name = environment_file.name
    plain = name.removeprefix("Pulumi.").removesuffix(".yaml") if name.startswith("Pulumi.") else environment_file.stem
    return environment_file.with_name(f"images.{plain}.lock")


def read_lock(path: Path, region: str | None = None) -> tuple[ImageLock | None, tuple[Finding, ...]]:
    """Return the lock in `path` and its findings; the lock is None if the file is absent or invalid.

    Findings have positions in the lock file. With `region`, an image of another region is an error: ids are regional.
    Never raises.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None, ()
    except OSError as error:
        finding = Finding(BROKEN, f"cannot read it: {error.strerror or error}", fix="run landbridge lock again")
        return None, (finding.at(str(path), 1, 1),)
    source = read(text, str(path))
    if source.findings:
        return None, tuple(
            Finding(BROKEN, f.message, f.path, f.fix).at(f.file, f.line, f.column) for f in source.findings
        )
    if source.data is None:
        return EMPTY, ()
    if not isinstance(source.data, dict):
        return None, (_at(source, (), "the lock must be a mapping of names to images"),)
    images: dict[str, LockedImage] = {}
    findings: list[Finding] = []
    for name, row in source.data.items():
        try:
            # Dates are text in JSON; the models are strict about everything else.
            images[name] = LockedImage.model_validate_json(json.dumps(row))
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                location: DataPath = (name, *fault["loc"])
                message = f"{path_text(location)}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
                findings.append(_at(source, location, message))
            continue
        # An image's copy in another region has that region in its name.
        expected = name.partition("@")[2] or region
        if expected is not None and images[name].region != expected:
            message = f"{name} was resolved in {images[name].region}, and this environment is in {expected}"
            findings.append(_at(source, (name, "region"), message))
    return (None if findings else ImageLock(images)), tuple(findings)


def _at(source: Source, path: DataPath, message: str) -> Finding:
    fix = "this file is not for editing: landbridge lock writes it again"
    return Finding(BROKEN, message, path, fix).at(source.file, *source.locate(path))


def _scalar(value: object) -> str:
    """Return a value in YAML, quoted unless every parser reads it as text (13.0 and 2026-11-21 are text)."""
    text = str(value)
    bare = isinstance(value, int) or (_BARE.fullmatch(text) and text.casefold() not in _WORDS)
    return text if bare else json.dumps(text, ensure_ascii=False)
