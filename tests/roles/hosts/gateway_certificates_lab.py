"""Lab of two active gateways whose tunnels have certificates; a node in AWS divides its flows over both (ECMP)."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import DataPath
from sandbox.nspawn.layout import Layout
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.roles.hosts import gateway_pair_lab as pair
from tests.roles.hosts.gateway_pair_lab import ENDS, NODE, NODE_ADDRESS
from tests.unit.plan.site import tunnel_authority

#: ARNs of no CA: the test's program signs.
ARNS = {
    "arn": "arn:aws:acm:us-east-1:123456789012:certificate/0",
    "authority_arn": "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/0",
}
PROGRAM = Path(tunnel_authority.__file__)
#: FRR of the node: the transit gateway's part, which divides flows over the attachments by their ports.
_ROUTER = f"""frr defaults traditional
router bgp 64512
 bgp router-id {NODE_ADDRESS}
 timers bgp 1 3
 no bgp graceful-restart notification
 {{neighbors}}
 address-family ipv4 unicast
  maximum-paths ibgp 2
 exit-address-family
line vty
"""


def changes(authorities: list[str]) -> dict[DataPath, Any]:
    """Return the changes of the sample environment."""
    base = pair.changes()
    certificate = {**ARNS, "authorities": "".join(authorities)}
    return {**base, ("link",): {**base[("link",)], "second_gateway": "active", "certificate": certificate}}


@dataclass(frozen=True)
class Certified:
    """Lab, environment, and the folder of the CA that signs."""

    lab: Layout
    chosen: Environment
    folder: Path
    authority: Path

    def hosts(self, **further: dict[str, Any]) -> dict[str, Any]:
        """Return the variables of the gateways and of AWS's ends, which peer with the node too. `further`: by host."""
        program = {"site_gateway_certificate_program": [sys.executable, str(PROGRAM), str(self.authority)]}
        plain = pair.described(self.lab, self.chosen)
        by_host: dict[str, dict[str, Any]] = {}
        for ends in ENDS:
            by_host[ends.gateway] = {**program}
            certificate = {**plain[ends.aws]["site_gateway_certificate"], "name": f"vpn-{ends.aws}.endpoint-0"}
            neighbors = [*plain[ends.aws]["site_gateway_inside_neighbors"], NODE_ADDRESS]
            by_host[ends.aws] = {
                **program,
                "site_gateway_certificate": certificate,
                "site_gateway_inside_neighbors": neighbors,
            }
        merged = {name: {**values, **further.get(name, {})} for name, values in by_host.items()}
        return pair.described(self.lab, self.chosen, merged)

    def configure(self, **further: dict[str, Any]) -> Played:
        """Apply the role site_gateway to both gateways and to AWS's ends."""
        plays = [{"hosts": "all", "gather_facts": False, "roles": ["site_gateway"]}]
        return play(self.lab, self.folder, plays, {"all": {"hosts": self.hosts(**further)}})

    def route_node(self) -> Played:
        """Install FRR on the node, with both of AWS's ends as its neighbours."""
        lines = [
            line
            for ends in ENDS
            for line in (
                f"neighbor {ends.aws_address} remote-as 64512",
                f"neighbor {ends.aws_address} timers connect 2",
                f"neighbor {ends.aws_address} graceful-restart-disable",
            )
        ]
        tasks: list[dict[str, Any]] = [
            {"ansible.builtin.apt": {"name": "frr", "install_recommends": False, "lock_timeout": 900}},
            {"ansible.builtin.lineinfile": {"path": "/etc/frr/daemons", "regexp": "^bgpd=", "line": "bgpd=yes"}},
            {
                "ansible.builtin.copy": {
                    "content": _ROUTER.format(neighbors="\n ".join(lines)),
                    "dest": "/etc/frr/frr.conf",
                    "owner": "frr",
                    "mode": "0640",
                }
            },
            {"ansible.builtin.command": {"cmd": "sysctl net.ipv4.fib_multipath_hash_policy=1"}},
            {"ansible.builtin.systemd_service": {"name": "frr", "state": "restarted"}},
        ]
        known = {NODE: {"ansible_host": NODE_ADDRESS, **connection(self.lab)}}
        plays = [{"hosts": NODE, "gather_facts": False, "tasks": tasks}]
        return play(self.lab, self.folder, plays, {"all": {"hosts": known}})

    def rotate(self) -> Played:
        """Run the rotation of the certificates for both gateways, as an operator does."""
        every = self.hosts()
        gateways = {ends.gateway: every[ends.gateway] for ends in ENDS}
        known = {"all": {"children": {"site_gateway": {"hosts": json.loads(json.dumps(gateways, default=str))}}}}
        book = ROOT / "ansible/playbooks/rotate_tunnel_certificates.yml"
        return play(self.lab, self.folder, book, known, "-e", "landbridge_secrets=/nonexistent", timeout=600)
