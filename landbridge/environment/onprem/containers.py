"""Containers of jobs: with what they run, where their images come from, and where nodes keep them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Text, Url, Word

Engine = Literal["podman", "apptainer", "enroot"]
Registry = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._/-]+)?$")]
Image = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)]


class Mirror(Model):
    """A cache of a registry, near the nodes."""

    location: Registry = Field(description="its host, port and path: cache01:5000/nvcr")
    insecure: bool = Field(default=False, description="plain HTTP; images named by digest are checked all the same")
    fallback: bool = Field(
        default=True, description="whether the registry itself is asked where the cache has no answer"
    )


class PackageSource(Model):
    """A signed repository of the site's own, for engines that no distribution carries."""

    uris: Url
    suites: Text = "./"
    components: Text | None = Field(default=None, description="none: a flat repository, whose suite ends with a slash")
    key: Key = Field(description="the repository's public key, as gpg --armor --export writes it")


class Containers(Model):
    """Container engines for jobs. Every engine runs a container as the job's user, inside the job's own limits."""

    engines: tuple[Engine, ...] = Field(
        default=("podman",),
        description="podman comes with every distribution; apptainer from EPEL and Ubuntu's PPA; enroot (with pyxis) from packages",
    )
    packages: PackageSource | None = Field(
        default=None, description="where apptainer, enroot and pyxis come from; none: what the distribution has"
    )
    folder: AbsolutePath | None = Field(
        default=None, description="for unpacked images; none: on the node's local_scratch, or else /var/lib/landbridge"
    )
    mirrors: Mapping[Registry, Mirror] = Field(default={}, description="caches, by the registry that images name")
    images: Mapping[Word, Image] = Field(
        default={}, description="images that the site has chosen, by digest: nvcr.io/nvidia/pytorch@sha256:..."
    )
