"""Many small files: their number of requests is that of the packs. `make test-long` uses 100,000 files in memory."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.catalog.aws.datasets import datasets
from landbridge.live.datasets import ContentStore, check_folder, stage
from tests.thorough import LONG
from tests.unit.live.datasets.conftest import SMALL, StorageHost

COUNT = 100_000 if LONG else 3_000


@pytest.fixture
def memory() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    yield folder
    shutil.rmtree(folder)


def test_small_files_need_few_requests_both_ways(host: StorageHost, memory: Path) -> None:
    for number in range(COUNT):
        path = memory / "source" / f"{number // 1000:03}" / f"{number:06}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b'{"record": %d}' % number * 25)
    facts = datasets() if LONG else SMALL
    host.cloud.control(reset=True)
    uploaded = host.put(memory / "source", facts=facts)
    requests = host.cloud.control()["total"]
    size = uploaded.manifest.content.size
    assert len(uploaded.manifest.content.files) == COUNT
    assert uploaded.sent_blocks <= 4 * size / facts.block_bytes + 1
    assert requests <= 3 * uploaded.sent_blocks + 10
    bucket = host.bucket()
    staged = stage(bucket, uploaded.manifest, memory / "staged", ContentStore(memory / "store"))
    assert staged.links == COUNT and bucket.calls["get_object"] == uploaded.sent_blocks
    assert check_folder(memory / "staged", uploaded.manifest, 4) == []
    again = host.put(memory / "source", facts=facts)
    assert (again.is_new, again.sent_bytes) == (False, 0)
