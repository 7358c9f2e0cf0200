"""Mover beside the emulated AWS: its configuration, and the folder of the exchange."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.live.staging.config import MoverConfig, parse_mover_config
from landbridge.live.staging.mover import Mover
from landbridge.staging.exchange import read_reports, write_requests
from landbridge.staging.places import DataReport, DatasetPlace
from tests.unit.live.datasets.conftest import BUCKET, REGION, ROLE, StorageHost, host, source

__all__ = ["host", "source"]


@dataclass
class MoverHost:
    """Storage host with a mover."""

    host: StorageHost
    raw: dict[str, Any]
    lines: list[str]

    @property
    def config(self) -> MoverConfig:
        return parse_mover_config(self.raw)

    @property
    def config_file(self) -> Path:
        path = self.host.folder / "mover.json"
        path.write_text(json.dumps(self.raw))
        return path

    def request(self, *places: DatasetPlace, copy: bool = True) -> None:
        """Write requests as the burst controller does."""
        write_requests(self.config.exchange, dict.fromkeys(places, copy))

    def run(self, cycles: int = 8, **changes: Any) -> None:
        """Run cycles of one process until nothing is copied."""
        mover = Mover(dataclasses.replace(self.config, **changes), self.lines.append)
        for _ in range(cycles):
            if not mover.cycle():
                return
        raise AssertionError("the mover copies without end")

    def report(self, place: DatasetPlace) -> DataReport:
        """Return the report about a place."""
        return read_reports(self.config.exchange).by_place[place]


@pytest.fixture
def mover(host: StorageHost, tmp_path: Path) -> MoverHost:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    raw = {
        "region": REGION,
        "exchange": str(exchange),
        "folder": str(tmp_path / "site"),
        "mount": "/home/datasets",
        "ledger": str(tmp_path / "ledger.jsonl"),
        "classes": {
            "internal": {"sites": ["onprem", "aws"], "bucket": BUCKET, "mount": "/fsx/internal"},
            "restricted": {"sites": ["onprem"], "bucket": None, "mount": None},
        },
        "workers": 3,
        "role": ROLE,
        "endpoint": host.cloud.endpoint,
        "credentials": str(host.credentials),
        "profile": "mover",
        "usd_gb_out": 0.09,
        "usd_1000_writes": 0.005,
        "usd_1000_reads": 0.0004,
    }
    return MoverHost(host, raw, [])
