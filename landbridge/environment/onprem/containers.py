"""Environment key `containers`: container engines, image sources and image storage on nodes."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Text, Url, Word

Engine = Literal["podman", "apptainer", "enroot"]
Registry = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._/-]+)?$")]
Image = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+(:\d{1,5})?(/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=20_000, strip_whitespace=True)]


class Mirror(Model):
    """Pull-through cache of a registry."""

    location: Registry = Field(description="host, port and path of the cache, such as cache01:5000/nvcr")
    insecure: bool = Field(default=False, description="plain HTTP; images with a digest are verified anyway")
    fallback: bool = Field(default=True, description="query the registry itself if the cache does not answer")


class PackageSource(Model):
    """Signed package repository of the site, for engines that the distribution does not contain."""

    uris: Url
    suites: Text = "./"
    components: Text | None = Field(
        default=None,
        description="components of an apt repository; none: a flat repository, whose suite ends with a slash",
    )
    key: Key = Field(description="public key of the repository, as gpg --armor --export writes it")


class Containers(Model):
    """Container engines for jobs. Every engine runs a container as the job's user, inside the job's own limits."""

    engines: tuple[Engine, ...] = Field(
        default=("podman",),
        description="podman is in every distribution; apptainer: EPEL, Ubuntu's PPA; enroot (with pyxis): `packages`",
    )
    packages: PackageSource | None = Field(
        default=None, description="repository of apptainer, enroot and pyxis; none: the distribution's packages"
    )
    folder: AbsolutePath | None = Field(
        default=None,
        description="folder of unpacked images; none: on the node's local_scratch, else /var/lib/landbridge",
    )
    mirrors: Mapping[Registry, Mirror] = Field(default={}, description="caches, by registry of the image names")
    images: Mapping[Word, Image] = Field(
        default={}, description="images for all users, by digest, such as nvcr.io/nvidia/pytorch@sha256:..."
    )
