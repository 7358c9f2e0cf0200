"""Publication of the certificate of nodes' exporters in Secrets Manager, from which nodes in AWS read it.

    python -m landbridge.burst.aws.publish_certificate SECRET FILE < ACCOUNT

FILE has key, certificate and chain in PEM. ACCOUNT is a JSON object with the account that may read the metrics and the
bcrypt hash of its password: `account` and `hash`. Prints `changed` or `unchanged`.
"""

import json
import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.publish_key import publish
from landbridge.burst.config.config import ConfigError, load


def published_value(account: str, certificate: str) -> bytes:
    """Return the value of the secret. Raises ValueError for input without an account, a hash, a key or a certificate."""
    data = json.loads(account)
    if not isinstance(data, dict) or not all(data.get(key) for key in ("account", "hash")):
        raise ValueError("standard input has no account with a hash")
    if not all(f"-----BEGIN {part}" in certificate for part in ("CERTIFICATE", "PRIVATE KEY")):
        raise ValueError("the file has no private key with a certificate")
    value = {"account": data["account"], "hash": data["hash"], "certificate": certificate}
    return json.dumps(value, sort_keys=True).encode()


def main(arguments: list[str]) -> int:
    """Publish the certificate."""
    name, file = arguments
    try:
        value = published_value(sys.stdin.read(), Path(file).read_text(encoding="ascii"))
        print("changed" if publish(load(), name, value) else "unchanged")
    except (ConfigError, ClientError, BotoCoreError, OSError, ValueError) as error:
        print(f"landbridge-publish-certificate: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
