"""Copies of dumps in S3: landbridge_mlflow_copy.py SERVER s3://BUCKET/PREFIX DATABASE..., as root.

Copies the newest periodic dump of each database into the bucket of the server's data class, with the server's own credentials
(/etc/SERVER/environment). A dump that is there already is not copied again. A copy that fails leaves the others, and the exit status is 1.
"""

import glob
import os
import sys

import boto3
from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from landbridge_mlflow_dump import PERIODIC
from landbridge_mlflow_upgrade import BACKUPS


def main(server, place, *databases):
    with open(f"/etc/{server}/environment", encoding="utf-8") as file:
        pairs = [line.strip().partition("=") for line in file if "=" in line and not line.startswith("#")]
    settings = {name: value for name, _, value in pairs}
    os.environ.update({name: value for name, value in settings.items() if name.startswith("AWS_")})
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    client = boto3.client("s3", endpoint_url=settings.get("MLFLOW_S3_ENDPOINT_URL"))
    failed = 0
    for database in databases:
        # The names end with the time.
        dumps = sorted(glob.glob(f"{BACKUPS}/{database}-{PERIODIC}-*.dump"))
        if not dumps:
            print(f"{database} has no dump", file=sys.stderr)
            failed = 1
            continue
        key = f"{prefix}/{os.path.basename(dumps[-1])}"
        try:
            if not is_present(client, bucket, key):
                client.upload_file(dumps[-1], bucket, key)
            print(f"copied to s3://{bucket}/{key}")
        except (Boto3Error, BotoCoreError, ClientError, OSError) as error:
            print(f"{dumps[-1]}: {error}", file=sys.stderr)
            failed = 1
    return failed


def is_present(client, bucket, key):
    """Return whether the bucket has the object. The role may list its buckets, so S3 answers 404, not 403, for an absent object."""
    objects = client.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1).get("Contents", [])
    return any(entry["Key"] == key for entry in objects)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
