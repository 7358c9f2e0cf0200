"""Strict frozen base model of the environment, and types of names, addresses and ranges."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticCustomError

from landbridge import hostlist

Site = Literal["onprem", "aws"]
SITES: tuple[Site, ...] = ("onprem", "aws")


class Model(BaseModel):
    """Frozen pydantic model that rejects unknown keys and wrong types: `"4"` is not a number and `26.05` is not a version."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=(), defer_build=True
    )

    @classmethod
    def with_defaults(cls) -> Self:
        """Return the model with its default values, for a field's default.

        `cls()` would build a validator of this class when its module is imported; the environment's validator contains
        the same, and pydantic does not validate default values.
        """
        # pydantic's mypy plugin types the result as the base class.
        return cast(Self, cls.model_construct())


def _host_range(text: str) -> str:
    try:
        hostlist.expand(text)
    except hostlist.HostlistError as error:
        at = f'character {error.offset + 1} of "{text}"'
        raise PydanticCustomError(
            "node-range", "{reason} ({at})", {"reason": error.reason, "at": at, "fix": "write hosts as dgx[01-04]"}
        ) from None
    return text


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise PydanticCustomError(
            "wrong-format",
            'the host or the port of "{url}" is not valid',
            {"url": text, "fix": "write a host and a port from 1 to 65535: http://mirror.example.org:3142/"},
        )
    return text


# A name that is safe as an AWS tag, a file name, a Slurm name and part of a bucket's name.
Word = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$")]
# Accounts and users keep their Unix spelling.
UserName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_.-]{0,31}$")]
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
HostRange = Annotated[str, AfterValidator(_host_range)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]*$")]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9._/-]*$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+(/\S*)?$"), AfterValidator(_url)]
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z]{3,5}[0-9]-az[0-9]+$")]
Region = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[a-z]+)+-\d$")]
Port = Annotated[int, Field(ge=1, le=65535)]
# Private 16- and 32-bit numbers and public ones; 0, 23456, 65535 and 4294967295 are reserved.
Asn = Annotated[int, Field(ge=1, le=4_294_967_294)]
Usd = Annotated[float, Field(ge=0, le=1e12)]
Scalar = str | int | float | bool
SlurmKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
# Keys of slurm.conf or of one of its lines; None deletes a key.
SlurmParameters = Mapping[SlurmKey, Scalar | None]
