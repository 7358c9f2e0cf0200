"""Publication of the cluster's Slurm or munge key in Secrets Manager, from which cloud nodes fetch it.

    python -m landbridge.burst.aws.publish_key < /etc/munge/munge.key

The key is read from stdin, never from an argument. Prints `changed` or `unchanged`. The stack creates the secret
itself: a missing one is an error.
"""

import os
import sys

import boto3
from botocore.config import Config as Settings
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.config.config import BurstConfig, ConfigError, load

SETTINGS = Settings(retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=20)


def _settings(config: BurstConfig) -> Settings:
    return SETTINGS.merge(Settings(use_fips_endpoint=True)) if config.fips_endpoints else SETTINGS


def publish(config: BurstConfig, name: str, value: bytes) -> bool:
    """Store the value of a secret unless it is already stored; return whether it was written."""
    if config.credentials_file:
        os.environ.setdefault("AWS_SHARED_CREDENTIALS_FILE", config.credentials_file)
    session = boto3.session.Session(region_name=config.policy.region)
    client = session.client("secretsmanager", endpoint_url=config.endpoint, config=_settings(config))
    try:
        stored = client.get_secret_value(SecretId=name)
        if stored.get("SecretString", "").encode() == value or stored.get("SecretBinary") == value:
            return False
    except client.exceptions.ResourceNotFoundException:
        pass  # the secret has no value yet, or does not exist: the next call tells the two apart
    if value.isascii():  # a generated key is text; one of `mungekey` is not
        client.put_secret_value(SecretId=name, SecretString=value.decode("ascii"))
    else:
        client.put_secret_value(SecretId=name, SecretBinary=value)
    return True


def main() -> int:
    key = sys.stdin.buffer.read()
    if len(key) < 32:
        print("landbridge-publish-key: a key of at least 32 bytes is expected on stdin", file=sys.stderr)
        return 2
    try:
        config = load()
        print("changed" if publish(config, config.slurm_key_secret, key) else "unchanged")
    except (ConfigError, ClientError, BotoCoreError) as error:
        print(f"landbridge-publish-key: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
