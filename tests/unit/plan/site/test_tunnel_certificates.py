"""Plan of certificates of tunnels: the gateways' variables, strongSwan's file, and netcheck's request."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.network.link import link_args
from landbridge.plan.site.link.expectations import link_expectations
from landbridge.plan.site.link.gateway import gateway_variables
from landbridge.plan.site.link.gateway_sheet import gateway_sheet, sheet_lines
from landbridge.plan.site.link.request import CERTIFICATE_FILE, gateway_request
from tests.unit.core.samples import environment as sample
from tests.unit.ops.netcheck import records
from tests.unit.plan.site import tunnel_authority
from tests.unit.plan.site.test_gateway import FIRST, rendered

ARN = "arn:aws:acm:us-east-1:123456789012:certificate/1234abcd"
AUTHORITY_ARN = "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/1234abcd"


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return tunnel_authority.create(tmp_path_factory.mktemp("authority"), "tunnels")


def certified(authorities: list[str], **more: Any) -> Environment:
    certificate = {"arn": ARN, "authority_arn": AUTHORITY_ARN, "authorities": "".join(authorities), **more}
    link = {**records.LINK, "datapath": "kernel", "certificate": certificate}
    return sample({**records.CHANGES, ("link",): link})


def test_a_gateway_gets_the_chain_and_no_private_key(authorities: list[str]) -> None:
    chosen = certified(authorities, days=60, renew_days=20, alarm_days=10)
    variables = gateway_variables(chosen, records.STACK_OUTPUTS)["site_gateway_certificate"]
    assert variables["name"] == "gw01.test" and variables["authorities"] == authorities
    assert (variables["issuer"], variables["region"]) == (AUTHORITY_ARN, "us-east-1")
    assert [variables[key] for key in ("days", "renew_days", "alarm_days")] == [60, 20, 10]
    assert "PRIVATE" not in str(variables)
    assert {vpn.certificate_arn for vpn in link_args(chosen).vpns.values()} == {ARN}
    assert "site_gateway_certificate" not in gateway_variables(records.environment(), records.STACK_OUTPUTS)


def test_strongswan_accepts_the_cas_of_the_tunnels_alone_and_has_no_key(tmp_path: Path) -> None:
    files = {"first": "/etc/swanctl/x509ca/site-gateway-1.pem", "second": "/etc/swanctl/x509ca/site-gateway-2.pem"}
    certificate = {"site_gateway_certificate": {"name": "gw01.test"}, "site_gateway_authority_files": files}
    lines = rendered("connections.conf.j2", [FIRST], site_gateway_pre_shared_keys=[], **certificate)
    assert lines.count("auth = pubkey") == 2 and "auth = psk" not in lines and "secrets {" not in lines
    assert "certs = site-gateway.pem" in lines and f"cacerts = {','.join(files.values())}" in lines
    assert sum(line.count("{") - line.count("}") for line in lines) == 0
    keys = rendered("connections.conf.j2", [FIRST])
    assert keys.count("auth = psk") == 2 and "secrets {" in keys and not any("cacerts" in line for line in keys)


def test_netcheck_reads_the_certificate_of_a_gateway_that_has_one(authorities: list[str]) -> None:
    (gateway,) = link_expectations(certified(authorities), records.STACK_OUTPUTS).gateways
    assert (gateway.certificate, gateway.alarm_days) == ("gw01.test", 21)
    assert CERTIFICATE_FILE in gateway_request(gateway)["programs"]["certificate"]
    (plain,) = records.expectations().gateways
    assert "certificate" not in gateway_request(plain)["programs"]


def test_the_sheet_of_another_gateway_has_the_certificates_and_no_pre_shared_key(authorities: list[str]) -> None:
    chosen = certified(authorities, days=60, renew_days=20, alarm_days=10)
    sheet = gateway_sheet(chosen, records.STACK_OUTPUTS)
    text = "\n".join(sheet_lines(sheet))
    for connection in sheet["connections"]:
        assert connection["certificate_of_the_site"] == "CN=gw01.test"
        assert connection["issuing_ca"] == "CN=tunnels" and connection["trusted_cas"] == [
            "CN=tunnels",
            "CN=tunnels root",
        ]
        assert (connection["certificate_days"], connection["renew_days_before_the_end"]) == (60, 20)
        assert AUTHORITY_ARN in connection["certificate_request"]
        # A person compares it with the output of OpenSSL.
        words = ["openssl", "x509", "-noout", "-fingerprint", "-sha256"]
        printed = [
            subprocess.run(words, input=authority, capture_output=True, text=True, check=True).stdout.strip()
            for authority in authorities
        ]
        fingerprints = connection["sha256_of_the_trusted_cas"]
        assert [line.partition("=")[2] for line in printed] == fingerprints
    assert "pre-shared" not in text and "PRIVATE" not in text and "Create the private key on the device" in text
    plain = gateway_sheet(records.environment(), records.STACK_OUTPUTS)
    assert "pre-shared key" in plain["connections"][0]["authentication"]
    assert not any("private key" in note for note in plain["notes"])
