"""The link between the sites: a Site-to-Site VPN on a transit gateway, two tunnels, BGP."""

from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.args import Args, tags

_STRONGSWAN = {
    "AES256-GCM-16": "aes256gcm16",
    "AES256": "aes256",
    "SHA2-256": "sha256",
    "SHA2-384": "sha384",
    14: "modp2048",
    20: "ecp384",
}


class Cipher(Args):
    """What both ends of a tunnel are told to use, in AWS's words, and in strongSwan's."""

    encryption: str
    integrity: str
    dh_group: int

    @property
    def ike_proposal(self) -> str:
        """strongSwan's `proposals` (phase 1)."""
        integrity = _STRONGSWAN[self.integrity]
        # An authenticated cipher needs no integrity algorithm, only a function to derive keys.
        middle = f"prf{integrity}" if "GCM" in self.encryption else integrity
        return f"{_STRONGSWAN[self.encryption]}-{middle}-{_STRONGSWAN[self.dh_group]}"

    @property
    def esp_proposal(self) -> str:
        """strongSwan's `esp_proposals` (phase 2)."""
        middle = "" if "GCM" in self.encryption else f"-{_STRONGSWAN[self.integrity]}"
        return f"{_STRONGSWAN[self.encryption]}{middle}-{_STRONGSWAN[self.dh_group]}"


#: CNSA's suite; AWS has offered it on every VPN endpoint since 2020.
KERNEL_CIPHER = Cipher(encryption="AES256-GCM-16", integrity="SHA2-384", dh_group=20)
#: What strongSwan's kernel-libipsec has been run with; AWS offers it too.
USERSPACE_CIPHER = Cipher(encryption="AES256", integrity="SHA2-256", dh_group=14)


class LinkArgs(Args):
    """Both ends of the VPN. Outside addresses and pre-shared keys are AWS's to choose and become stack outputs."""

    cluster: str
    gateway_address: str
    onprem_asn: int
    aws_asn: int
    inside_cidrs: tuple[str, str]
    bandwidth: str
    cipher: Cipher
    phase1_seconds: int = 28800
    phase2_seconds: int = 3600
    dpd_seconds: int = 30
    tags: dict[str, str]


def link_cipher(environment: Environment) -> Cipher:
    """Return what both ends use: a gateway that encrypts in user space has fewer algorithms."""
    userspace = environment.link.kind == "vpn" and environment.link.datapath == "userspace"
    return USERSPACE_CIPHER if userspace else KERNEL_CIPHER


def link_args(environment: Environment) -> LinkArgs:
    """Plan the VPN; raises FindingsError for a link that Pulumi does not build."""
    link = environment.link
    if link.kind != "vpn":
        raise FindingsError(
            [
                Finding(
                    rule="link-kind",
                    message=f"a link of kind {link.kind} is not built by Pulumi yet",
                    path=("link", "kind"),
                    fix="use kind: vpn, which can stay as the second path beside a leased line",
                )
            ]
        )
    return LinkArgs(
        cluster=environment.name,
        gateway_address=str(link.gateway_address),
        onprem_asn=link.onprem_asn,
        aws_asn=link.aws_asn,
        inside_cidrs=(str(link.inside_cidrs[0]), str(link.inside_cidrs[1])),
        bandwidth=link.bandwidth,
        cipher=link_cipher(environment),
        tags=tags(environment),
    )
