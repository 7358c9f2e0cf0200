"""EC2 clients that are small: of botocore's model of EC2 only the few operations that bursting calls stay in memory."""

import gc
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.parsers.expat import ExpatError

import botocore.session
from botocore.config import Config as Settings
from botocore.loaders import JSONFileLoader, Loader

from landbridge.burst.aws.instances_xml import read

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client

OPERATIONS = (
    *("RunInstances", "DescribeInstances", "TerminateInstances", "CreateTags"),
    *("DescribeVolumes", "DeleteVolume", "DescribeNetworkInterfaces", "DeleteNetworkInterface"),
)
#: Shapes whose parts instances_xml reads instead of botocore.
READ_ELSEWHERE = ("Reservation", "ReservationList")
NOTHING: dict[str, Any] = {"type": "structure", "members": {}}
#: Services whose addresses are kept: EC2 itself, and what credentials may be fetched from.
SERVICES = ("ec2", "sts")
# One attempt: botocore would repeat RunInstances where there is no capacity, which EC2 answers with HTTP 500.
SETTINGS = Settings(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=3,
    read_timeout=30,
    max_pool_connections=4,
    tcp_keepalive=True,
)


def clients(
    region: str, endpoint: str | None, credentials_file: str | None, profiles: tuple[str, ...]
) -> list["EC2Client"]:
    """A client for each profile of the credentials file; for one that is not in it the first one's."""
    loader = SmallLoader()
    clients_by_profile: list[EC2Client] = []
    for profile in profiles:
        session = botocore.session.Session()
        session.register_component("data_loader", loader)
        if credentials_file:
            session.set_config_variable("credentials_file", credentials_file)
        if profile != profiles[0] and profile not in session.available_profiles:
            clients_by_profile.append(clients_by_profile[0])
            continue
        if profile in session.available_profiles:
            session.set_config_variable("profile", profile)
        client: Any = session.create_client("ec2", region_name=region, endpoint_url=endpoint, config=SETTINGS)
        for operation in ("DescribeInstances", "RunInstances"):
            client.meta.events.register(f"before-parse.ec2.{operation}", _read)
        clients_by_profile.append(client)
    loader.forget()
    return clients_by_profile


def _read(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Read an answer about instances before botocore does, and leave it nothing of it."""
    if response_dict["status_code"] < 300:
        try:
            customized_response_dict.update(read(response_dict["body"]))
        except (ExpatError, LookupError, ValueError):
            return  # botocore says what is wrong with it
        response_dict["body"] = b"<answer/>"


class SmallLoader(Loader):
    """Reads botocore's data and keeps what is used of it.

    What is kept is a copy, made when the large original is gone: parts of the original would keep all its memory in use.
    """

    def __init__(self) -> None:
        super().__init__(file_loader=_Undocumented())
        self._small: dict[tuple[str, ...], Any] = {}

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        key = (service_name, type_name)
        if key not in self._small:
            text = self._model(service_name, type_name, api_version)
            self.forget()
            self._small[key] = json.loads(text)
        return self._small[key]

    def load_data_with_path(self, name: str) -> Any:
        if name != "endpoints":
            return super().load_data_with_path(name)
        if (name,) not in self._small:
            text, path = self._endpoints()
            self.forget()
            self._small[name,] = (json.loads(text), path)
        return self._small[name,]

    def forget(self) -> None:
        """Let go of everything that was read only to be made smaller."""
        self._cache.clear()  # type: ignore[attr-defined]
        gc.collect()

    def _model(self, service: str, kind: str, version: str | None) -> str:
        model = super().load_service_model(service, kind, version)
        return json.dumps(_pruned(model) if (service, kind) == ("ec2", "service-2") else model)

    def _endpoints(self) -> tuple[str, str]:
        endpoints, path = super().load_data_with_path("endpoints")
        return json.dumps(_known_services(endpoints)), path


class _Undocumented(JSONFileLoader):
    """Reads a file without its explanations: most of EC2's model is text for people."""

    def _load_file(self, full_path: str, open_method: Callable[[str, str], BinaryIO]) -> Any:
        if not os.path.isfile(full_path):
            return None
        with open_method(full_path, "rb") as file:
            return json.loads(file.read(), object_hook=_undocumented)


def _undocumented(table: dict[str, Any]) -> dict[str, Any]:
    table.pop("documentation", None)
    return table


def _pruned(model: dict[str, Any]) -> dict[str, Any]:
    """A service model with our operations and the shapes they reach."""
    shapes, reached = {**model["shapes"], **dict.fromkeys(READ_ELSEWHERE, NOTHING)}, {}
    operations = {name: model["operations"][name] for name in OPERATIONS}
    waiting = list(_named(operations))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = shapes[name]
            waiting.extend(_named(shapes[name]))
    return {**model, "operations": operations, "shapes": reached}


def _named(part: Any) -> list[str]:
    """Names of shapes that a part of a model refers to."""
    if isinstance(part, list):
        return [name for item in part for name in _named(item)]
    if not isinstance(part, dict):
        return []
    names = [part["shape"]] if isinstance(part.get("shape"), str) else []
    return names + [name for value in part.values() for name in _named(value)]


def _known_services(endpoints: dict[str, Any]) -> dict[str, Any]:
    partitions = [
        {
            **partition,
            "services": {name: partition["services"][name] for name in SERVICES if name in partition["services"]},
        }
        for partition in endpoints["partitions"]
    ]
    return {**endpoints, "partitions": partitions}
