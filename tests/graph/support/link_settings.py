"""Links for tests, as changes of the sandbox's environment file."""

from sandbox.aws_emulator.network.direct_connect import connection_id
from sandbox.pulumi_provider.graph import Graph

#: Text of the sandbox's file.
OWN = """    link:
      kind: vpn
      gateway_address: 198.51.100.10
      onprem_asn: 65010
"""
REST = """      # This machine's kernel may lack ESP: strongSwan then encrypts in user space, with one tunnel.
      datapath: userspace
"""
ORDERED = connection_id("graph-line")
BASEL = "{cidr: 10.30.0.0/16, gateway: gw02, address: 10.30.0.1, gateway_address: 198.51.100.40, asn: 65011, datapath: userspace}"
BERN = "{cidr: 10.40.0.0/16, gateway: gw03, address: 10.40.0.1, gateway_address: 198.51.100.70, asn: 4200000001, bandwidth: large}"
BACKUP = "{gateway_address: 198.51.100.10, datapath: userspace}"
LINE_VPN = "{gateway_address: 10.20.0.1}"


def vpn(**more: str) -> tuple[str, str]:
    """Return a change of the sandbox's file: its VPN with more keys."""
    return OWN, OWN + _keys(more)


def line(**more: str) -> tuple[str, str]:
    """Return a change of the sandbox's file: Direct Connect instead of its VPN."""
    settings = {"kind": "direct_connect", "connection": ORDERED, "vlan": "101", "gateway_address": "169.254.80.1"}
    return OWN + REST, "    link:\n" + _keys({**settings, **more})


def sites(**more: str) -> str:
    """Return the value of `sites`."""
    return "{" + ", ".join(f"{name}: {value}" for name, value in more.items()) + "}"


def _keys(more: dict[str, str]) -> str:
    return "".join(f"      {key}: {value}\n" for key, value in more.items())


def reached(graph: Graph) -> dict[str, set[str]]:
    """Return, by attachment, the attachments whose ranges are propagated into its route table."""
    kind = "aws:ec2transitgateway/routeTable"
    tables = {
        node.inputs["transitGatewayAttachmentId"]: node.inputs["transitGatewayRouteTableId"]
        for node in graph.of_type(f"{kind}Association:RouteTableAssociation")
    }
    known: dict[str, set[str]] = {}
    for node in graph.of_type(f"{kind}Propagation:RouteTablePropagation"):
        known.setdefault(node.inputs["transitGatewayRouteTableId"], set()).add(
            node.inputs["transitGatewayAttachmentId"]
        )
    return {attachment: known.get(table, set()) for attachment, table in tables.items()}
