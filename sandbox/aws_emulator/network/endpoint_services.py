"""Endpoint services of a region, and the zones that lack one, which moto does not have.

Source: EC2 API Reference, DescribeVpcEndpointServices (AvailabilityZoneIds), CreateVpcEndpoint; AWS PrivateLink Guide,
"Subnets and Availability Zones"; terraform-aws-vpc issue 785 (the message).
"""

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.moto_hooks import before


def install(emulator: EmulatorState) -> None:
    """Install the check of an interface endpoint's zones in moto. Global to the process, as moto's state is."""
    before(EC2Backend, "create_vpc_endpoint", lambda backend, arguments: _check(emulator, backend, arguments))


def _check(emulator: EmulatorState, backend: Any, arguments: dict[str, Any]) -> None:
    name = str(arguments["service_name"])
    lacking = emulator.without_zones.get(name.split(".", 3)[-1], [])
    for subnet_id in arguments.get("subnet_ids") or ():
        if backend.get_subnet(subnet_id)._availability_zone.zone_id in lacking:
            message = (
                f"The VPC endpoint service {name} does not support the availability zone of the subnet: {subnet_id}."
            )
            raise error("InvalidParameter", message)


def describe(emulator: EmulatorState, response: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return the named services of AWS, each in all zones of the region except those that lack it."""
    zones = RegionsAndZonesBackend.zones.get(response.region, [])
    details = []
    for name in request.get("ServiceNames") or ():
        lacking = emulator.without_zones.get(name.split(".", 3)[-1], [])
        served = [zone for zone in zones if zone.zone_id not in lacking]
        details.append(
            {
                "ServiceName": name,
                "ServiceType": [{"ServiceType": "Interface"}],
                "AvailabilityZones": [zone.name for zone in served],
                "AvailabilityZoneIds": [zone.zone_id for zone in served],
                "Owner": "amazon",
            }
        )
    return {"ServiceNames": [detail["ServiceName"] for detail in details], "ServiceDetails": details}
