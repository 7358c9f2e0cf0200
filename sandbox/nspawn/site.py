"""Plan of the lab's site: bridges and nodes with their addresses, routes and hardware. Pure."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from sandbox.nspawn.machine.node import LabNode
from sandbox.nspawn.network.bridges import LabBridge, LabInterface

ONPREM = "br-onprem"
CLOUD = "br-cloud"
INTERNET = "br-inet"
# Stand-in of AWS's end of the VPN connection and of the VPC's router.
AWS_GATEWAY = "awsgw"
METADATA = "169.254.169.254"
_OPERATOR = 254
_AWS_GATEWAY_OUTSIDE = 20


@dataclass(frozen=True)
class LabSite:
    """Lab site: bridges and nodes of one environment."""

    bridges: tuple[LabBridge, ...]
    nodes: tuple[LabNode, ...]
    cloud: IPv4Network
    operators: tuple[str, ...]

    def bridge(self, name: str) -> LabBridge:
        return next(bridge for bridge in self.bridges if bridge.name == name)


@dataclass(frozen=True)
class Machine:
    """Facts of one on-prem host that the lab needs."""

    name: str
    address: str
    gpus: int = 0
    platform: str = ""
    storage: bool = False
    gateway: bool = False


def operator_address(network: IPv4Network) -> str:
    """Return the operator's address on a segment: .254 of its first /24, for a segment of any size."""
    return str(network.network_address + _OPERATOR)


def plan(
    onprem: IPv4Network,
    cloud: IPv4Network,
    gateway_outside: IPv4Address | None,
    machines: tuple[Machine, ...],
) -> LabSite:
    """Return the lab's plan: on-prem machines and, if there is a link, the internet and AWS's end of the link."""
    bridges = [
        LabBridge(ONPREM, (f"{operator_address(onprem)}/{onprem.prefixlen}",)),
        # The instance metadata service answers here, as it does next to every EC2 instance.
        LabBridge(CLOUD, (f"{operator_address(cloud)}/{cloud.prefixlen}", f"{METADATA}/32")),
    ]
    nodes: list[LabNode] = []
    gateway = next((machine.address for machine in machines if machine.gateway), operator_address(onprem))
    internet = IPv4Network(f"{gateway_outside}/24", strict=False) if gateway_outside else None
    if internet:
        bridges.append(LabBridge(INTERNET, (f"{operator_address(internet)}/24",)))
    for machine in machines:
        nics = [LabInterface(ONPREM, (f"{machine.address}/{onprem.prefixlen}",))]
        route = f"default via {gateway}"
        if machine.gateway and internet:
            nics.append(LabInterface(INTERNET, (f"{gateway_outside}/24",)))
            route = f"default via {operator_address(internet)}"
        elif machine.gateway:
            route = f"default via {operator_address(onprem)}"
        nodes.append(
            LabNode(
                machine.name,
                tuple(nics),
                (route,),
                operator=operator_address(onprem),
                gpus=machine.gpus,
                platform=machine.platform,
                disks=("/export",) if machine.storage else (),
                file_handles=machine.storage,
            )
        )
    if internet:
        nodes.append(aws_gateway(cloud, internet))
    operators = (operator_address(onprem), operator_address(cloud))
    return LabSite(tuple(bridges), tuple(nodes), cloud, operators)


def aws_gateway(cloud: IPv4Network, internet: IPv4Network) -> LabNode:
    """Return the node of AWS's end: inside the VPC's first address, outside a fixed address on the internet."""
    outside = internet.network_address + _AWS_GATEWAY_OUTSIDE
    return LabNode(
        AWS_GATEWAY,
        (
            LabInterface(CLOUD, (f"{cloud.network_address + 1}/{cloud.prefixlen}",)),
            LabInterface(INTERNET, (f"{outside}/{internet.prefixlen}",)),
        ),
        (f"default via {operator_address(internet)}",),
        operator=operator_address(cloud),
    )


def instance(name: str, address: str, cloud: IPv4Network, image: str, gpus: int) -> LabNode:
    """Return the node of a cloud instance: on the VPC's segment, with routes to the VPC's router and to IMDS."""
    return LabNode(
        name,
        (LabInterface(CLOUD, (f"{address}/{cloud.prefixlen}",)),),
        (f"default via {cloud.network_address + 1}", f"{METADATA}/32 dev eth0"),
        image=image,
        hostname=f"ip-{address.replace('.', '-')}",
        operator=operator_address(cloud),
        gpus=gpus,
    )
