"""Process that puts or stages a dataset with blocks of 1 MiB: `python -m tests.unit.live.datasets.transfer JSON`."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from landbridge.aws_api.objects import DataAccess, TransferRate
from landbridge.live.datasets import ContentStore, find_manifest, scan, stage, upload
from tests.unit.live.datasets.conftest import BUCKET, REGION, SMALL


def main(words: dict[str, str]) -> None:
    """Transfer, and print the number of objects that were sent or read."""
    access = DataAccess(REGION, words["endpoint"], "mover", words["credentials"])
    bucket = access.bucket(BUCKET, int(words["workers"]), TransferRate(None), None)
    if "source" in words:
        folder = Path(words["source"])
        files, _ = scan(folder)
        named = {"name": "corpus", "version": "v1", "data_class": "internal", "created": datetime.now(UTC)}
        print(upload(bucket, folder, files, facts=SMALL, **named).sent_blocks)  # type: ignore[arg-type]
    else:
        manifest = find_manifest(bucket, "corpus", "v1")
        assert manifest is not None
        print(stage(bucket, manifest, Path(words["folder"]), ContentStore(Path(words["store"]))).read_blocks)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
