"""Picture of an environment: its site from the file, and its AWS resources from the graph."""

from collections import Counter
from collections.abc import Iterable, Iterator

from landbridge.environment import Environment
from landbridge.hostlist import expand
from sandbox.pulumi_provider.graph import Graph, GraphNode
from tests.graph.support.svg_boxes import Box, page

#: Components with resources in zones, and how they are drawn; a component in no table here is drawn with the region's.
IN_ZONES = {"Pool": "compute", "FileSystem": "storage", "SlurmController": "compute", "Login": "compute"}
OF_THE_VPC = ("Network", "ExistingNetwork", "FlowLogs", "Dns", "DnsRecords")
KINDS = {"DataHub": "storage", "Guardrails": "guard", "Identity": "guard"}
NAMES = {
    "Network": "Network",
    "ExistingNetwork": "Existing VPC",
    "FlowLogs": "Flow logs",
    "Dns": "DNS",
    "DnsRecords": "DNS records",
    "DataHub": "Data hub",
    "SlurmController": "Slurm controller",
    "SageMaker": "SageMaker",
    "NodeImage": "Node images",
}
FILE_SYSTEMS = {"fsx_lustre": "FSx for Lustre", "fsx_openzfs": "FSx for OpenZFS", "efs": "EFS"}
#: Resource types of a component that are shown, with their words; others are not shown.
WORDS = {
    "InternetGateway": "internet gateway",
    "NatGateway": "NAT gateway",
    "ResolverEndpoint": "Resolver endpoint",
    "ResolverRule": "Resolver rule",
    "Zone": "private hosted zone",
    "Bucket": "bucket",
    "BucketV2": "bucket",
    "BucketReplicationConfig": "replica in another region",
    "BucketObjectLockConfiguration": "object lock",
    "Key": "key",
    "Role": "role",
    "Secret": "secret",
    "TrustAnchor": "trust anchor",
    "Activation": "SSM activation",
    "Budget": "budget",
    "BudgetAction": "budget action",
    "AnomalyMonitor": "anomaly monitor",
    "Trail": "CloudTrail trail",
    "Function": "function",
    "Instance": "instance",
    "Volume": "volume",
    "LogGroup": "log group",
    "ImagePipeline": "image pipeline",
    "ModelPackageGroup": "model package group",
}


def picture(environment: Environment, graph: Graph) -> str:
    """Return the picture as SVG."""
    title = f"{environment.name}: {environment.region}"
    return page(title, _site(environment), tuple(_link(graph)), _cloud(environment, graph))


def _site(environment: Environment) -> Box | None:
    site = environment.onprem
    if site is None:
        return None
    groups = [
        [Box(f"{len(expand(group.hosts))} x {group.platform}", [group.hosts], kind="compute")]
        for group in environment.node_groups
    ]
    services: dict[str, list[str]] = {}
    for key, hosts in site.services.model_dump().items():
        for host in (hosts,) if isinstance(hosts, str) else hosts or ():
            services.setdefault(str(host), []).append(key)
    lines = [f"{host}: {', '.join(keys)}" for host, keys in services.items()]
    return Box(f"On-prem {site.cidr}", [], [*groups, [Box("Services", lines)]] if lines else groups, "site")


def _link(graph: Graph) -> Iterator[str]:
    tunnels = 2 * len(graph.of_type("aws:ec2/vpnConnection:VpnConnection"))
    if tunnels:
        yield f"VPN, {tunnels} tunnels, BGP"
    for token, word in (
        ("aws:directconnect/gateway:Gateway", "Direct Connect"),
        ("aws:ec2transitgateway/transitGateway:TransitGateway", "transit gateway"),
    ):
        if graph.of_type(token):
            yield word
    gateways = graph.of_type("aws:ec2/customerGateway:CustomerGateway")
    yield from sorted(f"to {gateway.inputs.get('ipAddress')}" for gateway in gateways)


def _cloud(environment: Environment, graph: Graph) -> Box:
    tops = [node for node in graph.nodes.values() if node.type.startswith("landbridge:") and _top(node)]
    tops = [node for node in tops if not node.name.endswith(tuple(environment.aws.other_regions))]
    zones = graph.outputs["network"]["subnets"]
    inside: dict[str, list[Box]] = {zone: [] for zone in sorted(zones)}
    edge, region = list[Box](), list[Box]()
    for node in sorted(tops, key=lambda node: (_short(node), node.name)):
        kind = _short(node)
        if kind in IN_ZONES:
            box, box_zones = _standing(environment, graph, node)
            for zone in box_zones or ():
                inside[zone].append(box(zone))
            if not box_zones:
                edge.append(box(""))
        elif kind != "Link":
            box_ = Box(NAMES.get(kind, kind), _contents(graph, node, kind), kind=KINDS.get(kind, "service"))
            if box_.lines:
                (edge if kind in OF_THE_VPC else region).append(box_)
    columns = [
        Box(zone, [str(zones[zone]["cidr"])], [[box] for box in boxes] or (), "zone") for zone, boxes in inside.items()
    ]
    vpc = Box(f"VPC {graph.outputs['network']['cidr']}", [], [columns, *([edge] if edge else [])], "vpc")
    region += [_elsewhere(environment, graph, name) for name in environment.aws.other_regions]
    half = -(-len(region) // 2) if len(region) > 3 else len(region)
    rows = [row for row in (region[:half], region[half:]) if row]
    return Box(f"AWS {environment.region}", [], [[vpc], *rows], "cloud")


def _elsewhere(environment: Environment, graph: Graph, name: str) -> Box:
    """Return the box of another region: its VPC, and the pools that may start nodes there."""
    pools = graph.outputs["region_pools"][name]
    boxes = [
        Box(key, [f"{pool['instance_type']} in {subnet['zone']}" for subnet in pool["subnets"]], kind="compute")
        for key, pool in sorted(pools.items())
    ]
    lines = ["transit gateway, peered", "used after all pools above"]
    return Box(f"{name}: VPC {graph.outputs['region_networks'][name]['cidr']}", lines, [boxes], "vpc")


def _standing(environment: Environment, graph: Graph, node: GraphNode) -> tuple["_Drawn", tuple[str, ...]]:
    """Return the drawing of a zonal resource in one of its zones, and the zones."""
    kind, outputs = _short(node), graph.outputs
    if kind == "Pool":
        key = node.name.removeprefix(f"{environment.name}-")
        pool = outputs["pools"][key]
        zones = tuple(subnet["zone"] for subnet in pool["subnets"])
        shared = f", in {len(zones)} zones" if len(zones) > 1 else ""
        lines = [f"up to {pool['max_nodes']} x {pool['instance_type']}{shared}", pool["market"].replace("-", " ")]
        return _Drawn(f"Pool {key}", lines, "compute"), zones
    if kind == "FileSystem":
        key = node.name.removeprefix(f"{environment.name}-")
        share = next(candidate for name, candidate in outputs["file_systems"].items() if name.replace("_", "-") == key)
        links = [child for child in _below(graph, node) if child.type.endswith(":DataRepositoryAssociation")]
        lines = [f"{FILE_SYSTEMS[share['kind']]} at {share['mount']}", *(["linked to the data hub"] if links else [])]
        return _Drawn(key, lines, "storage"), tuple(share["zones"])
    by_subnet = {str(subnet["id"]): zone for zone, subnet in outputs["network"]["subnets"].items()}
    instances = [child for child in _below(graph, node) if child.type == "aws:ec2/instance:Instance"]
    zones = tuple(
        sorted(
            {by_subnet[str(instance.inputs["subnetId"])] for instance in instances if instance.inputs.get("subnetId")}
        )
    )
    lines = [
        f"{count} x {kind_}"
        for kind_, count in _counted(str(instance.inputs["instanceType"]) for instance in instances)
    ]
    databases = [child for child in _below(graph, node) if child.type == "aws:rds/instance:Instance"]
    lines += [
        f"accounting: {database.inputs.get('engine')}, {database.inputs.get('instanceClass')}" for database in databases
    ]
    return _Drawn(NAMES.get(kind, kind), lines, "compute"), zones


class _Drawn:
    """Box that is drawn in each of its zones."""

    def __init__(self, title: str, lines: list[str], kind: str) -> None:
        self._parts = title, lines, kind

    def __call__(self, zone: str) -> Box:
        title, lines, kind = self._parts
        return Box(title, lines, kind=kind)


def _contents(graph: Graph, node: GraphNode, kind: str) -> list[str]:
    """Return the counted parts of a component, and the services that its endpoints lead to."""
    below = list(_below(graph, node))
    counts = _counted(WORDS[_short(child)] for child in below if _short(child) in WORDS)
    if kind == "DataHub":
        counts = [entry for entry in counts if entry[0] != "bucket"]
        classes = sorted(graph.outputs["data_hub"]["buckets"])
        return [*(f"bucket for {key}" for key in classes), *(_plural(*entry) for entry in counts)]
    lines = [_plural(*entry) for entry in counts]
    services = {_service(child) for child in below if _short(child) == "VpcEndpoint"}
    if services:
        listed = sorted(services)
        rows = [", ".join(listed[start : start + 5]) for start in range(0, len(listed), 5)]
        lines += [f"endpoints: {rows[0]}", *(f"    {row}" for row in rows[1:])]
    return lines


def _plural(word: str, count: int) -> str:
    return f"{count} {word}{'s' if count > 1 else ''}"


def _service(node: GraphNode) -> str:
    return str(node.inputs.get("serviceName", "")).split(".", 3)[-1]


def _below(graph: Graph, node: GraphNode) -> Iterator[GraphNode]:
    """Yield all resources below a component, those of inner components included."""
    for child in graph.nodes.values():
        if child.parent == node.key:
            yield child
            yield from _below(graph, child)


def _counted(words: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(words).items())


def _top(node: GraphNode) -> bool:
    return "pulumi:pulumi:Stack" in node.parent


def _short(node: GraphNode) -> str:
    return node.type.rsplit(":", 1)[-1]
