"""Environment key `storage.object_store`: S3 object store of the site."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Port, Url, Word


class ServerSource(Model):
    """Program versitygw from a URL, instead of a build from its Go module on the operator's machine."""

    url: Url
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ObjectStore(Model):
    """Object store of the site with the S3 API (versitygw): a bucket for each data class that may be on-prem."""

    folder: AbsolutePath = Field(
        default="/srv/object-store",
        description="folder of the objects on the host; its file system needs extended attributes, and is backed up by you",
    )
    port: Port | None = Field(default=None, description="none: the catalogue's (7070)")
    replicate: tuple[Word, ...] = Field(
        default=(),
        description="data classes whose objects are copied: those below site/ to AWS, those below aws/ from there; only classes "
        "that may be at both sites",
    )
    program: ServerSource | None = Field(
        default=None, description="none: built from its Go module on the operator's machine, which needs Go"
    )
