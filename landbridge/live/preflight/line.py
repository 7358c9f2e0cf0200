"""Checks of an existing Direct Connect connection: state, bandwidth and encryption."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import DirectConnectSettings
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning

CONNECTION: DataPath = ("link", "connection")
_PORTS = {"1g": "1Gbps", "10g": "10Gbps", "100g": "100Gbps", "400g": "400Gbps"}


@check("the leased line", "directconnect:DescribeConnections", "directconnect:DescribeLags")
def line(scene: Scene) -> Iterator[Finding]:
    """The connection is up, as fast as the file says, and with MACsec it carries nothing that is not encrypted.

    A connection that only should encrypt carries clear text as soon as the two sides' keys differ.
    Source: Direct Connect API Reference, Connection; Direct Connect User Guide, "MACsec encryption modes".
    """
    link = scene.environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    try:
        found = _connection(scene, link.connection)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        found = None
    if found is None:
        message = f"there is no connection {link.connection} in {scene.environment.region} for this account"
        yield error("live-line", message, CONNECTION, "a connection is seen in its own location's region alone")
        return
    state = found.get("connectionState") or found.get("lagState")
    if state != "available":
        yield error("live-line", f"{link.connection} is {state}", CONNECTION, "wait, or ask the person that ordered it")
    bandwidth = found.get("bandwidth") or found.get("connectionsBandwidth")
    if link.port is not None and bandwidth != _PORTS[link.port]:
        yield warning("live-line", f"{link.connection} has {bandwidth}", ("link", "port"), "write what it has")
    if link.encryption == "macsec" and found.get("encryptionMode") != "must_encrypt":
        mode = found.get("encryptionMode") or "no MACsec"
        fix = f"aws directconnect update-connection --connection-id {link.connection} --encryption-mode must_encrypt"
        yield error("live-line", f"{link.connection} has {mode}, not must_encrypt", ("link", "encryption"), fix)
    elif link.encryption == "macsec" and found.get("portEncryptionStatus", "Encryption Up") != "Encryption Up":
        message = f"{link.connection} does not encrypt: {found['portEncryptionStatus']}"
        yield error("live-line", message, ("link", "encryption"), "give both sides the same MACsec key")


def _connection(scene: Scene, id_: str) -> Any:
    """Return the connection, or the link aggregation group, from AWS. Raises AwsRefusal."""
    if id_.startswith("dxlag-"):
        found = scene.aws.ask("directconnect", "describe_lags", lagId=id_)["lags"]
    else:
        found = scene.aws.ask("directconnect", "describe_connections", connectionId=id_)["connections"]
    return next(iter(found), None)
