"""Picture of an environment: its site from the file, and its AWS resources from the graph."""

from collections import Counter
from collections.abc import Iterable, Iterator

from landbridge.environment import Environment
from landbridge.hostlist import expand
from sandbox.pulumi_provider.graph import Graph, GraphNode
from tests.graph.support.svg_boxes import Box, page

#: Components that stand in zones, and how they are drawn; any that is in no table here is drawn with the region's.
IN_ZONES = {"Pool": "compute", "FileSystem": "storage", "SlurmController": "compute", "Login": "compute"}
OF_THE_VPC = ("Network", "ExistingNetwork", "FlowLogs", "Dns", "DnsRecords")
KINDS = {"DataHub": "storage", "Guardrails": "guard", "Identity": "guard"}
NAMES = {
    "Network": "Ways out",
    "ExistingNetwork": "A VPC of one's own",
    "FlowLogs": "Flow logs",
    "Dns": "Names across the link",
    "DnsRecords": "Names of services",
    "DataHub": "Data hub",
    "SlurmController": "Slurm controller",
    "SageMaker": "SageMaker",
    "NodeImage": "Images that are built",
}
FILE_SYSTEMS = {"fsx_lustre": "FSx for Lustre", "fsx_openzfs": "FSx for OpenZFS", "efs": "EFS"}
#: What a reader wants to see of a component, in these words; the rest holds it together.
WORDS = {
    "InternetGateway": "internet gateway",
    "NatGateway": "NAT gateway",
    "ResolverEndpoint": "resolver endpoint",
    "ResolverRule": "forwarding rule",
    "Zone": "private zone",
    "Bucket": "bucket",
    "BucketV2": "bucket",
    "BucketReplicationConfig": "copy in another region",
    "BucketObjectLockConfiguration": "object lock",
    "Key": "key",
    "Role": "role",
    "Secret": "secret",
    "TrustAnchor": "trust anchor",
    "Activation": "SSM activation",
    "Budget": "budget",
    "BudgetAction": "stop of launches",
    "AnomalyMonitor": "anomaly monitor",
    "Trail": "audit trail",
    "Function": "function",
    "Instance": "instance",
    "Volume": "volume",
    "LogGroup": "log group",
    "ImagePipeline": "image pipeline",
    "ModelPackageGroup": "model registry",
}


def picture(environment: Environment, graph: Graph) -> str:
    """The SVG."""
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
    yield from sorted(f"to {one.inputs.get('ipAddress')}" for one in gateways)


def _cloud(environment: Environment, graph: Graph) -> Box:
    tops = [node for node in graph.nodes.values() if node.type.startswith("landbridge:") and _top(node)]
    tops = [node for node in tops if not node.name.endswith(tuple(environment.aws.other_regions))]
    zones = graph.outputs["network"]["subnets"]
    inside: dict[str, list[Box]] = {zone: [] for zone in sorted(zones)}
    edge, region = list[Box](), list[Box]()
    for node in sorted(tops, key=lambda one: (_short(one), one.name)):
        kind = _short(node)
        if kind in IN_ZONES:
            box, where = _standing(environment, graph, node)
            for zone in where or ():
                inside[zone].append(box(zone))
            if not where:
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
    """Another region: its VPC, and the pools that may start nodes there."""
    pools = graph.outputs["region_pools"][name]
    boxes = [
        Box(key, [f"{pool['instance_type']} in {one['zone']}" for one in pool["subnets"]], kind="compute")
        for key, pool in sorted(pools.items())
    ]
    lines = ["transit gateway, peered", "tried after everything above"]
    return Box(f"{name}: VPC {graph.outputs['region_networks'][name]['cidr']}", lines, [boxes], "vpc")


def _standing(environment: Environment, graph: Graph, node: GraphNode) -> tuple["_Drawn", tuple[str, ...]]:
    """Return the drawing of a zonal resource in one of its zones, and the zones."""
    kind, outputs = _short(node), graph.outputs
    if kind == "Pool":
        key = node.name.removeprefix(f"{environment.name}-")
        pool = outputs["pools"][key]
        where = tuple(one["zone"] for one in pool["subnets"])
        shared = f", in {len(where)} zones" if len(where) > 1 else ""
        lines = [f"up to {pool['max_nodes']} x {pool['instance_type']}{shared}", pool["market"].replace("-", " ")]
        return _Drawn(f"Pool {key}", lines, "compute"), where
    if kind == "FileSystem":
        key = node.name.removeprefix(f"{environment.name}-")
        share = next(one for name, one in outputs["file_systems"].items() if name.replace("_", "-") == key)
        shown = [one for one in _below(graph, node) if one.type.endswith(":DataRepositoryAssociation")]
        lines = [f"{FILE_SYSTEMS[share['kind']]} at {share['mount']}", *(["linked to the data hub"] if shown else [])]
        return _Drawn(key, lines, "storage"), tuple(share["zones"])
    by_subnet = {str(one["id"]): zone for zone, one in outputs["network"]["subnets"].items()}
    machines = [one for one in _below(graph, node) if one.type == "aws:ec2/instance:Instance"]
    where = tuple(sorted({by_subnet[str(one.inputs["subnetId"])] for one in machines if one.inputs.get("subnetId")}))
    lines = [f"{count} x {kind_}" for kind_, count in _counted(str(one.inputs["instanceType"]) for one in machines)]
    databases = [one for one in _below(graph, node) if one.type == "aws:rds/instance:Instance"]
    lines += [f"accounting: {one.inputs.get('engine')}, {one.inputs.get('instanceClass')}" for one in databases]
    return _Drawn(NAMES.get(kind, kind), lines, "compute"), where


class _Drawn:
    """A box that is drawn in more than one place."""

    def __init__(self, title: str, lines: list[str], kind: str) -> None:
        self._made = title, lines, kind

    def __call__(self, zone: str) -> Box:
        title, lines, kind = self._made
        return Box(title, lines, kind=kind)


def _contents(graph: Graph, node: GraphNode, kind: str) -> list[str]:
    """Return the counted parts of a component, and the services that its endpoints lead to."""
    below = list(_below(graph, node))
    found = _counted(WORDS[_short(one)] for one in below if _short(one) in WORDS)
    if kind == "DataHub":
        found = [one for one in found if one[0] != "bucket"]
        classes = sorted(graph.outputs["data_hub"]["buckets"])
        return [*(f"bucket for {key}" for key in classes), *(_plural(*one) for one in found)]
    lines = [_plural(*one) for one in found]
    services = {_service(one) for one in below if _short(one) == "VpcEndpoint"}
    if services:
        listed = sorted(services)
        rows = [", ".join(listed[at : at + 5]) for at in range(0, len(listed), 5)]
        lines += [f"endpoints: {rows[0]}", *(f"    {row}" for row in rows[1:])]
    return lines


def _plural(word: str, count: int) -> str:
    return f"{count} {word}{'s' if count > 1 else ''}"


def _service(node: GraphNode) -> str:
    return str(node.inputs.get("serviceName", "")).split(".", 3)[-1]


def _below(graph: Graph, node: GraphNode) -> Iterator[GraphNode]:
    """Yield all resources below a component, those of inner components included."""
    for one in graph.nodes.values():
        if one.parent == node.key:
            yield one
            yield from _below(graph, one)


def _counted(words: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(words).items())


def _top(node: GraphNode) -> bool:
    return "pulumi:pulumi:Stack" in node.parent


def _short(node: GraphNode) -> str:
    return node.type.rsplit(":", 1)[-1]
