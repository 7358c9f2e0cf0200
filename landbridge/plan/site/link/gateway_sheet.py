"""Configuration sheet of a site's end of the link, for people whose firewall or router is the gateway. Pure.

It names the standards' own values (IANA's names of algorithms), and has no secret: pre-shared keys are in separate files,
and the private key of a certificate never leaves the device.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from landbridge.certificates import certificates_in, subject_and_fingerprint
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.link import OWN_KEYS, SECOND_OWN, Cipher, Connection, VpnArgs, connections, link_args
from landbridge.plan.other_regions import vpc_ranges
from landbridge.plan.outputs import StackOutputs, TunnelOutput
from landbridge.plan.site.link.expectations import MSS_HEADERS
from landbridge.plan.site.link.gateway import keys_file, tunnel_certificate_name

_UNKNOWN = "known after `landbridge up`"
#: Bits of the Diffie-Hellman groups. Source: IANA, IKEv2 Parameters, Transform Type 4.
_GROUPS = {14: "14 (2048-bit MODP)", 20: "20 (384-bit random ECP)"}
#: Number of BGP keepalives in a hold time. Source: RFC 4271, section 4.4.
_KEEPALIVES = 3
_NOTES = (
    "Each tunnel has its own tunnel interface (route-based): traffic selectors are 0.0.0.0/0 on both ends, and BGP decides on the routes.",
    "Rekey before the lifetimes end, and make the new association before the old one is deleted.",
    "Configure every tunnel: AWS replaces its endpoints one at a time, without asking.",
    "Traffic may return in another tunnel than it left: use no strict reverse-path filter and no firewall state for each tunnel.",
    "Drop packets to the prefixes of AWS while no tunnel is up: the default route would send them in clear text.",
    "Permit UDP 500, UDP 4500 and ESP between the outside addresses, and ICMP type 3 code 4 everywhere.",
)
_CERTIFICATE_NOTES = (
    "Create the private key on the device, and let only the request leave it: the CA signs the request.",
    "AWS accepts every certificate with the chain of the customer gateway's. Renew in time: an association keeps the certificate that it was made with, so replace one tunnel after the other.",
    "Set the clock with NTP: a certificate outside its time is refused.",
)


def gateway_sheet(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the sheet as plain data. Raises ValueError for an environment without a link."""
    link, onprem = environment.link, environment.onprem
    if link is None or onprem is None:
        raise ValueError(f"{environment.name} has no link between sites")
    plans = link_args(environment)
    vpns = {connection.key: connection for connection in connections(environment)}
    sheet: dict[str, Any] = {
        "environment": environment.name,
        "region": environment.region,
        "aws_prefixes": [str(cidr) for cidr in vpc_ranges(environment)],
        "connections": [
            _connection(environment, connection, plans.vpns[key], outputs) for key, connection in vpns.items()
        ],
        "notes": [*_NOTES, *(_CERTIFICATE_NOTES if link.certificate is not None else ())] if vpns else [],
    }
    if isinstance(link, DirectConnectSettings):
        sheet["direct_connect"] = _line(link, outputs)
    return sheet


def sheet_lines(sheet: dict[str, Any]) -> Iterator[str]:
    """Yield the sheet as text."""
    yield f"link of {sheet['environment']} with AWS in {sheet['region']}"
    if "direct_connect" in sheet:
        yield from ("", "Direct Connect, for the site's router")
        yield from _table(sheet["direct_connect"])
    for connection in sheet["connections"]:
        yield from ("", f"VPN of {connection['site']} over {connection['over']}")
        yield from _table({key: value for key, value in connection.items() if key not in ("site", "over", "tunnels")})
        for tunnel in connection["tunnels"]:
            yield f"  tunnel {tunnel['number']}"
            yield from ("  " + line for line in _table({k: v for k, v in tunnel.items() if k != "number"}))
    if sheet["notes"]:
        yield from ("", "for every device")
        yield from (f"  - {note}" for note in sheet["notes"])


def _connection(
    environment: Environment, connection: Connection, vpn: VpnArgs, outputs: StackOutputs | None
) -> dict[str, Any]:
    onprem, link = environment.onprem, environment.link
    assert onprem is not None
    assert link is not None
    site = "onprem" if connection.key in chain(*OWN_KEYS) else connection.key
    others = [str(cidr) for name, cidr in _sites(environment).items() if name != site] if link.sites_meet else []
    tunnels = _tunnels(connection, outputs)
    return {
        "site": site,
        "over": "the internet" if connection.over == "internet" else "Direct Connect",
        "outside_address_of_the_site": vpn.gateway_address,
        "ike_version": 2,
        "ike": _algorithms(vpn.cipher, "phase 1"),
        "ike_lifetime_seconds": vpn.phase1_seconds,
        "esp": _algorithms(vpn.cipher, "phase 2"),
        "esp_lifetime_seconds": vpn.phase2_seconds,
        "perfect_forward_secrecy": f"group {_GROUPS[vpn.cipher.dh_group]}",
        "dead_peer_detection_seconds": vpn.dpd_seconds,
        **_authentication(environment, connection, site),
        "mtu": connection.tunnels.mtu,
        "mss": connection.tunnels.mtu - MSS_HEADERS,
        "as_number_of_the_site": connection.asn,
        "as_number_of_aws": link.aws_asn,
        "bgp_keepalive_seconds": link.bgp_hold_seconds // _KEEPALIVES,
        "bgp_hold_seconds": link.bgp_hold_seconds,
        "announce_to_aws": [str(_sites(environment)[site])],
        "accept_from_aws": [*map(str, vpc_ranges(environment)), *others],
        "tunnels": [_tunnel(number, tunnel) for number, tunnel in enumerate(tunnels, start=1)]
        or [_planned(number, cidr) for number, cidr in enumerate(vpn.inside_cidrs or (), start=1)],
    }


def _authentication(environment: Environment, connection: Connection, site: str) -> dict[str, Any]:
    """Return the entries about how both ends prove who they are: pre-shared keys, or certificates."""
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        keys = keys_file(site if connection.gateway == 0 else SECOND_OWN)
        return {"authentication": f"pre-shared key for each tunnel, in the file {keys} of the operator's secrets"}
    authorities = [subject_and_fingerprint(text) for text in certificates_in(settings.authorities)]
    names = [name for name, _ in authorities]
    return {
        "authentication": "certificate of each end (IKEv2 digital signature); no key is shared",
        "certificate_of_the_site": f"CN={tunnel_certificate_name(environment, _host(environment, connection, site))}",
        "identity_of_the_site": "the subject of its certificate (ID_DER_ASN1_DN)",
        "identity_of_aws": "the subject of its certificate, which AWS chooses: accept each that the issuing CA has signed",
        "issuing_ca": names[0],
        "trusted_cas": names,
        "sha256_of_the_trusted_cas": [fingerprint for _, fingerprint in authorities],
        "certificate_days": settings.days,
        "renew_days_before_the_end": settings.renew_days,
        "certificate_request": f"signed by {settings.authority_arn} (`aws acm-pca issue-certificate`)",
    }


def _host(environment: Environment, connection: Connection, site: str) -> str:
    """Return the name of the gateway of a connection."""
    link = environment.link
    assert link is not None
    return service_hosts(environment).gateways[connection.gateway] if site == "onprem" else link.sites[site].gateway


def _sites(environment: Environment) -> dict[str, Any]:
    onprem, link = environment.onprem, environment.link
    assert onprem is not None
    assert link is not None
    return {"onprem": onprem.cidr, **{name: site.cidr for name, site in link.sites.items()}}


def _tunnels(connection: Connection, outputs: StackOutputs | None) -> tuple[TunnelOutput, ...]:
    """Return the tunnels of a connection in the stack's outputs."""
    if outputs is None or outputs.link is None:
        return ()
    tunnels = outputs.link.tunnels
    if connection.key not in OWN_KEYS[0]:
        site = outputs.link.sites.get(SECOND_OWN if connection.gateway else connection.key)
        tunnels = site.tunnels if site is not None else ()
    return tuple(tunnel for tunnel in tunnels if tunnel.over == connection.over)


def _tunnel(number: int, tunnel: TunnelOutput) -> dict[str, Any]:
    prefix = tunnel.inside_cidr.rpartition("/")[2]
    return {
        "number": number,
        "outside_address_of_aws": tunnel.outside_address,
        "inside_address_of_the_site": f"{tunnel.customer_inside_address}/{prefix}",
        "inside_address_of_aws": tunnel.aws_inside_address,
        "bgp_neighbor": tunnel.aws_inside_address,
    }


def _planned(number: int, inside_cidr: str) -> dict[str, Any]:
    return {"number": number, "outside_address_of_aws": _UNKNOWN, "inside_range": inside_cidr}


def _algorithms(cipher: Cipher, phase: str) -> str:
    """Return the algorithms of a phase. An authenticated cipher needs none for integrity."""
    is_authenticated = "GCM" in cipher.encryption
    words = [cipher.encryption]
    if phase == "phase 1":
        words.append(f"{'PRF' if is_authenticated else 'integrity and PRF'} {cipher.integrity}")
    elif not is_authenticated:
        words.append(f"integrity {cipher.integrity}")
    return ", ".join([*words, f"Diffie-Hellman group {_GROUPS[cipher.dh_group]}"])


def _line(link: DirectConnectSettings, outputs: StackOutputs | None) -> dict[str, Any]:
    line = outputs.link.line if outputs is not None and outputs.link is not None else None
    return {
        "connection": link.connection,
        "vlan": link.vlan,
        "encryption": link.encryption,
        "mtu": link.mtu,
        "address_of_the_router": str(link.gateway_address),
        "address_of_aws": line.aws_address if line is not None else str(link.aws_address or _UNKNOWN),
        "as_number_of_the_site": link.onprem_asn,
        "as_number_of_aws": link.line_asn,
        "authentication": "MD5 key of the BGP session, in the file link_bgp_auth_key of the operator's secrets",
    }


def _table(values: dict[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        yield f"  {key.replace('_', ' '):<30} {text}"
