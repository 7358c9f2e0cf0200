"""Environment with everything that grants permissions from outside and monitors cost, for tests."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from sandbox.aws_emulator.process import EmulatorProcess
from tests.graph.support.inventory import ACCOUNT, client

#: Cost allocation tags that billing must know before it can separate the cluster's costs.
COST_TAGS = ("landbridge:cluster", "landbridge:cost-center", "landbridge:owner", "landbridge:pool")


def authority(*, ca: bool = True, sign: bool = True, days: int = 365) -> str:
    """Return a self-signed CA certificate in PEM; without `ca` or `sign` it is not a CA's."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=site-ca")
    now = datetime.now(UTC)
    usage = dict.fromkeys(
        ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
         "crl_sign", "encipher_only", "decipher_only"), False)  # fmt: skip
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(key_cert_sign=sign, **usage), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(Encoding.PEM).decode()


def request_permissions(file: Path, cloud: EmulatorProcess) -> None:
    """Write these settings into the sandbox's environment; billing knows the tags, as on the day after a first `up`."""
    cloud.control(billed_tags=list(COST_TAGS))
    expires = (datetime.now(UTC) + timedelta(days=10)).strftime("%Y-%m-%dT%H:%M:%SZ")
    certificate = authority().replace("\n", "\\n")
    settings = (
        f"protect: false\n      iam: {{path: /team/, ssm_activation: {{registrations: 2, expires: {expires}}}, "
        f'anywhere: {{certificate: "{certificate}"}}}}\n'
        "      guardrails: {reaper: true, cost_tags: true, anomaly_usd: 50}"
    )
    text = file.read_text()
    for old, new in (
        ("protect: false", settings),
        ("budget: {monthly_usd: 1000}", "budget: {monthly_usd: 1000, hard: true}"),
    ):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def budget_actions(cloud: EmulatorProcess) -> list[dict[str, Any]]:
    """Return every action of every budget of the emulated account."""
    budgets, account = client(cloud, "budgets"), {"AccountId": ACCOUNT}
    return [
        action
        for budget in budgets.describe_budgets(**account).get("Budgets", [])
        for action in budgets.describe_budget_actions_for_budget(**account, BudgetName=budget["BudgetName"])["Actions"]
    ]
