"""moto's copies of AWS responses: DescribeInstanceTypes, offerings by zone, zones, endpoint services."""

import functools
import gzip
import importlib
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from landbridge.catalog import endpoint_features, endpoints_of, images, instances, regions
from landbridge.catalog.compare import described_facts, facts_of
from tests.unit.catalog.peers.compared import COMPLETE, Compared, joined


@functools.cache
def descriptions() -> Mapping[str, Any]:
    """Return the items of DescribeInstanceTypes by type."""
    path = files("moto").joinpath("ec2", "resources", "instance_types.json.gz")
    items: Mapping[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return items


def moto_types() -> Iterator[Compared]:
    """Yield every fact that both sides have of a type, and the types that one side lacks in complete families."""
    described = descriptions()
    for name, kind in instances().items():
        if name not in described:
            yield Compared("moto", name, "type", "known", None)
            continue
        ours, theirs = facts_of(kind), described_facts(described[name])
        for fact, value in ours.items():
            if value is not None and theirs.get(fact) is not None:
                yield Compared("moto", name, fact, value, theirs[fact])
    for name in described:
        if name not in instances() and name.partition(".")[0] in COMPLETE:
            yield Compared("moto", name, "type", None, "known")


def moto_places() -> Iterator[Compared]:
    """Yield the zones of every region and of every type, and whether a region has a type."""
    folder = files("moto").joinpath("ec2", "resources", "instance_type_offerings", "availability-zone-id")
    offerings: dict[str, set[str]] = {}
    seen: dict[str, set[str]] = {}
    for entry in folder.iterdir():
        region = entry.name.partition(".")[0]
        for offering in json.loads(gzip.decompress(entry.read_bytes())):
            offerings.setdefault(offering["InstanceType"], set()).add(offering["Location"])
            seen.setdefault(region, set()).add(offering["Location"])
    for region in seen:
        yield Compared("moto", region, "offerings", regions()[region].offerings, "zones")
        known = set(regions()[region].zones)
        yield Compared(
            "moto", region, "zones with offerings", joined(sorted(seen[region] & known)), joined(sorted(seen[region]))
        )
    module = importlib.import_module("moto.ec2.models.availability_zones_and_regions")
    for region, listed in module.RegionsAndZonesBackend.zones.items():
        theirs = joined(sorted(zone.zone_id for zone in listed))
        yield Compared("moto", region, "zones", joined(sorted(regions()[region].zones)), theirs)
    covered = {zone for region in regions().values() if region.offerings == "zones" for zone in region.zones}
    for name, kind in instances().items():
        for zone in sorted(covered & (set(kind.zones) | offerings.get(name, set()))):
            mine, theirs = zone in kind.zones, zone in offerings.get(name, ())
            yield Compared("moto", name, f"zone {zone}", str(mine), str(theirs))


def moto_endpoints() -> Iterator[Compared]:
    """Yield the services with VPC endpoints in us-east-1, with their kind."""
    from moto.ec2.models import ec2_backends

    backend = ec2_backends["123456789012"]["us-east-1"]
    answer = backend.describe_vpc_endpoint_services([], [], 10_000, "", "us-east-1")
    kinds: dict[str, set[str]] = {}
    for details in answer["servicesDetails"]:
        if details["ServiceName"].startswith("com.amazonaws.us-east-1."):
            service = details["ServiceName"].removeprefix("com.amazonaws.us-east-1.")
            kinds.setdefault(service, set()).update(kind["ServiceType"].lower() for kind in details["ServiceType"])
    for endpoint in endpoints_of(endpoint_features()):
        theirs = endpoint.kind if endpoint.kind in kinds.get(endpoint.service, ()) else None
        yield Compared("moto", endpoint.service, "endpoint", endpoint.kind, theirs)


def moto_images() -> Iterator[Compared]:
    """Yield the names of SSM parameters of images that moto has copies of: those of Amazon Linux in us-east-1."""
    path = files("moto").joinpath("ssm", "resources", "ami-amazon-linux-latest", "us-east-1.json.gz")
    known = {parameter["Name"] for parameter in json.loads(gzip.decompress(path.read_bytes()))}
    for name, image in images().items():
        if image.parameter.startswith("/aws/service/ami-amazon-linux-latest/"):
            for architecture in image.architectures:
                theirs = "known" if image.parameter_for(architecture) in known else None
                yield Compared("moto", f"{name} {architecture}", "parameter", "known", theirs)
