"""Step of a Pulumi preview for one resource, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """Step of a Pulumi preview.

    `operation` is the engine's name of the step. `paths` are the property paths that differ
    (`networkInterfaces[3].interfaceType`), as detailed as the provider reports them; `causes` are those that require a
    replacement. `old` and `new` are the resource's inputs, without secrets. `retained`: a deletion removes it from the
    state only. `parent` is a URN, `provider` a URN with an id.
    """

    urn: str
    operation: str
    old: Mapping[str, Any] = field(default_factory=dict)
    new: Mapping[str, Any] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    protected: bool = False
    retained: bool = False
    parent: str = ""
    provider: str = ""

    @property
    def type(self) -> str:
        """Pulumi resource type, `aws:s3/bucket:Bucket`."""
        return self.urn.split("::")[2].rsplit("$", 1)[-1]

    @property
    def name(self) -> str:
        """Resource name in the Pulumi program."""
        return self.urn.split("::", 3)[3]
