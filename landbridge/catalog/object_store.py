"""S3 server of the site's object store: its Go module, settings, and the rights of its accounts (object_store.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ServerSetting(Facts):
    """Variable of the server's environment, and its reason."""

    value: str
    why: str


class AccountRights(Facts):
    """Actions of S3 that an account of a data class has on its bucket and on its objects."""

    use: str
    bucket: tuple[str, ...]
    objects: tuple[str, ...]


class ObjectStoreFacts(Facts):
    """Facts of object_store.yaml. `sum` is the module's hash as go.sum writes it."""

    source: str
    as_of: date = Field(alias="date")
    program: str
    module: str
    version: str
    sum: str
    package: str
    go: str
    build_seconds: int
    port: int
    region: str
    health: str
    settings: Mapping[str, ServerSetting]
    accounts: Mapping[str, AccountRights]
    deletion: str
    #: Prefixes of replicated objects, by the side of their writer: store or hub.
    prefixes: Mapping[str, str]
    copy_calendar: str
    upload_days: int
    expiry_calendar: str
    checkpoints: str


@cache
def object_store_facts() -> ObjectStoreFacts:
    """Return the facts of the object store (cached)."""
    return read("object_store", ObjectStoreFacts)
