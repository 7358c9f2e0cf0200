"""EC2 clients with little memory: they keep only the operations of botocore's EC2 model that the burst controller
calls."""

import gc
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar
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
    *("DescribeInstanceTopology", "DescribeInstanceStatus"),
)
#: Shapes whose members instances_xml reads instead of botocore.
READ_ELSEWHERE = ("Reservation", "ReservationList")
NOTHING: dict[str, Any] = {"type": "structure", "members": {}}
#: Services whose endpoints are kept: EC2, STS, from which credentials may be fetched, and CloudWatch.
SERVICES = ("ec2", "sts", "monitoring")
# One attempt: botocore would repeat RunInstances after insufficient capacity, which EC2 reports with HTTP 500.
SETTINGS = Settings(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=3,
    read_timeout=30,
    max_pool_connections=4,
    tcp_keepalive=True,
)


def clients(
    region: str, endpoint: str | None, credentials_file: str | None, profiles: tuple[str, ...], fips: bool = False
) -> list["EC2Client"]:
    """Return a client for each profile of the credentials file; for a missing profile the client of the first one."""
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
        client: Any = session.create_client("ec2", region_name=region, endpoint_url=endpoint, config=settings(fips))
        for operation in ("DescribeInstances", "RunInstances"):
            client.meta.events.register(f"before-parse.ec2.{operation}", _read)
        clients_by_profile.append(client)
    loader.forget()
    return clients_by_profile


def settings(fips: bool) -> Settings:
    """Return the settings of a client, with AWS's FIPS endpoints if the environment requires them."""
    return SETTINGS.merge(Settings(use_fips_endpoint=True)) if fips else SETTINGS


def cloudwatch_client(region: str, endpoint: str | None, credentials_file: str | None, fips: bool = False) -> Any:
    """Return a CloudWatch client with the launch role's credentials."""
    loader = SmallLoader()
    session = botocore.session.Session()
    session.register_component("data_loader", loader)
    if credentials_file:
        session.set_config_variable("credentials_file", credentials_file)
    client: Any = session.create_client("cloudwatch", region_name=region, endpoint_url=endpoint, config=settings(fips))
    loader.forget()
    return client


def _read(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Parse a response about instances before botocore does, and replace its body by an empty one."""
    if response_dict["status_code"] < 300:
        try:
            customized_response_dict.update(read(response_dict["body"]))
        except (ExpatError, LookupError, ValueError):
            return  # botocore reports the error
        response_dict["body"] = b"<answer/>"


class SmallLoader(Loader):
    """Loader of botocore's data that keeps only the used part.

    The part is a copy, created after the large original has been freed: parts of the original would keep its memory in
    use. Its text is kept for the clients of other regions: reading EC2's model takes a second.
    """

    _texts: ClassVar[dict[tuple[str, ...], str]] = {}

    def __init__(self) -> None:
        super().__init__(file_loader=_Undocumented())
        self._small: dict[tuple[str, ...], Any] = {}

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        key = (service_name, type_name)
        if key not in self._small:
            if key not in self._texts:
                self._texts[key] = self._model(service_name, type_name, api_version)
                self.forget()
            self._small[key] = json.loads(self._texts[key])
        return self._small[key]

    def load_data_with_path(self, name: str) -> Any:
        if name != "endpoints":
            return super().load_data_with_path(name)
        if (name,) not in self._small:
            if (name,) not in self._texts:
                self._texts[name,] = self._endpoints()
                self.forget()
            self._small[name,] = tuple(json.loads(self._texts[name,]))
        return self._small[name,]

    def forget(self) -> None:
        """Free the data from which only a part is kept."""
        self._cache.clear()  # type: ignore[attr-defined]
        gc.collect()

    def _model(self, service: str, kind: str, version: str | None) -> str:
        model = super().load_service_model(service, kind, version)
        return json.dumps(_pruned(model) if (service, kind) == ("ec2", "service-2") else model)

    def _endpoints(self) -> str:
        endpoints, path = super().load_data_with_path("endpoints")
        return json.dumps([_known_services(endpoints), path])


class _Undocumented(JSONFileLoader):
    """Loader of a file without its documentation, which is most of EC2's model."""

    def _load_file(self, full_path: str, open_method: Callable[[str, str], BinaryIO]) -> Any:
        if not os.path.isfile(full_path):
            return None
        with open_method(full_path, "rb") as file:
            return json.loads(file.read(), object_hook=_undocumented)


def _undocumented(table: dict[str, Any]) -> dict[str, Any]:
    table.pop("documentation", None)
    return table


def _pruned(model: dict[str, Any]) -> dict[str, Any]:
    """Return a service model with only OPERATIONS and the shapes that they refer to."""
    shapes, reached = {**model["shapes"], **dict.fromkeys(READ_ELSEWHERE, NOTHING)}, {}
    operations = {name: model["operations"][name] for name in OPERATIONS}
    pending = list(_shape_names(operations))
    while pending:
        name = pending.pop()
        if name not in reached:
            reached[name] = shapes[name]
            pending.extend(_shape_names(shapes[name]))
    return {**model, "operations": operations, "shapes": reached}


def _shape_names(part: Any) -> list[str]:
    """Return the names of the shapes that a part of a model refers to."""
    if isinstance(part, list):
        return [name for item in part for name in _shape_names(item)]
    if not isinstance(part, dict):
        return []
    names = [part["shape"]] if isinstance(part.get("shape"), str) else []
    return names + [name for value in part.values() for name in _shape_names(value)]


def _known_services(endpoints: dict[str, Any]) -> dict[str, Any]:
    partitions = [
        {
            **partition,
            "services": {name: partition["services"][name] for name in SERVICES if name in partition["services"]},
        }
        for partition in endpoints["partitions"]
    ]
    return {**endpoints, "partitions": partitions}
