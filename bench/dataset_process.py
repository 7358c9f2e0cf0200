"""Put or stage of a dataset as a whole process, for bench.datasets: `python -m bench.dataset_process put|stage FOLDER STORE`."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from landbridge.aws_api.objects import DataAccess, TransferRate
from landbridge.catalog.aws.datasets import datasets
from landbridge.live.datasets import ContentStore, find_manifest, scan, stage, upload


def main(operation: str, folder: Path, store: Path) -> int:
    """Transfer the dataset `bench` with the credentials of the environment."""
    facts = datasets()
    access = DataAccess("us-east-1", os.environ["AWS_ENDPOINT_URL"])
    bucket = access.bucket(os.environ["BENCH_BUCKET"], facts.workers.value, TransferRate(None), None)
    if operation == "put":
        files, _ = scan(folder)
        upload(
            bucket,
            folder,
            files,
            name="bench",
            version="v1",
            data_class="bench",
            facts=facts,
            created=datetime.now(UTC),
        )
        return 0
    manifest = find_manifest(bucket, "bench", "v1")
    assert manifest is not None
    stage(bucket, manifest, folder, ContentStore(store))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
