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


@check("the Direct Connect connection", "directconnect:DescribeConnections", "directconnect:DescribeLags")
def line(scene: Scene) -> Iterator[Finding]:
    """The connection is available, has the bandwidth in the file, and with MACsec carries encrypted traffic only.

    In the mode should_encrypt a connection carries clear text as soon as the keys of its two ends differ.
    Source: Direct Connect API Reference, Connection; Direct Connect User Guide, "MACsec encryption modes".
    """
    link = scene.environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    try:
        connection = _connection(scene, link.connection)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        connection = None
    if connection is None:
        message = f"there is no connection {link.connection} in {scene.environment.region} for this account"
        yield error("live-line", message, CONNECTION, "AWS shows a connection only in the region of its location")
        return
    state = connection.get("connectionState") or connection.get("lagState")
    if state != "available":
        yield error("live-line", f"{link.connection} is {state}", CONNECTION, "wait, or ask who ordered the connection")
    bandwidth = connection.get("bandwidth") or connection.get("connectionsBandwidth")
    if link.port is not None and bandwidth != _PORTS[link.port]:
        yield warning("live-line", f"{link.connection} has {bandwidth}", ("link", "port"), "write its actual bandwidth")
    if link.encryption == "macsec" and connection.get("encryptionMode") != "must_encrypt":
        mode = connection.get("encryptionMode") or "no MACsec"
        fix = f"aws directconnect update-connection --connection-id {link.connection} --encryption-mode must_encrypt"
        yield error("live-line", f"{link.connection} has {mode}, not must_encrypt", ("link", "encryption"), fix)
    elif link.encryption == "macsec" and connection.get("portEncryptionStatus", "Encryption Up") != "Encryption Up":
        message = f"{link.connection} does not encrypt: {connection['portEncryptionStatus']}"
        yield error("live-line", message, ("link", "encryption"), "configure the same MACsec key at both ends")


def _connection(scene: Scene, connection_id: str) -> Any:
    """Return the connection, or the link aggregation group, from AWS. Raises AwsRefusal."""
    if connection_id.startswith("dxlag-"):
        connections = scene.aws.ask("directconnect", "describe_lags", lagId=connection_id)["lags"]
    else:
        connections = scene.aws.ask("directconnect", "describe_connections", connectionId=connection_id)["connections"]
    return next(iter(connections), None)
