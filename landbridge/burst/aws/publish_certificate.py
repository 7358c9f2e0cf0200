"""Publication of the certificate of nodes' exporters in Secrets Manager, from which nodes in AWS read it.

    python -m landbridge.burst.aws.publish_certificate SECRET FILE AUTHORITY < ACCOUNT

FILE has key, certificate and chain in PEM, AUTHORITY the certificates of the site's CA, with which nodes check the log store. ACCOUNT is a JSON object with the account that may read the metrics and the
bcrypt hash of its password: `account` and `hash`. Prints `changed` or `unchanged`.
"""

import json
import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.publish_key import publish
from landbridge.burst.config.config import ConfigError, load


def published_value(account: str, certificate: str, authority: str) -> bytes:
    """Return the value of the secret. Raises ValueError for input without an account, a hash, a key or a certificate, or with a key of the CA."""
    data = json.loads(account)
    if not isinstance(data, dict) or not all(data.get(key) for key in ("account", "hash")):
        raise ValueError("standard input has no account with a hash")
    if not all(f"-----BEGIN {part}" in certificate for part in ("CERTIFICATE", "PRIVATE KEY")):
        raise ValueError("the file has no private key with a certificate")
    if "-----BEGIN CERTIFICATE" not in authority or "PRIVATE KEY" in authority:
        raise ValueError("the file of the CA has no certificate, or has a private key")
    value = {"account": data["account"], "hash": data["hash"], "certificate": certificate, "authority": authority}
    return json.dumps(value, sort_keys=True).encode()


def main(arguments: list[str]) -> int:
    """Publish the certificate."""
    name, *files = arguments
    try:
        certificate, authority = (Path(file).read_text(encoding="ascii") for file in files)
        value = published_value(sys.stdin.read(), certificate, authority)
        print("changed" if publish(load(), name, value) else "unchanged")
    except (ConfigError, ClientError, BotoCoreError, OSError, ValueError) as error:
        print(f"landbridge-publish-certificate: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
