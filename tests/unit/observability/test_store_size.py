"""Size of the store of metrics: it grows with hosts, GPUs and shorter scrapes, and the price in AWS has its steps."""

import pytest

from landbridge.catalog.observability.metrics_store import metrics_store_facts
from landbridge.plan.observability.store_size import store_size
from tests.unit.core.samples import environment

MONITORED = {("onprem", "services", "monitoring"): "mlops01"}


@pytest.mark.parametrize(
    ("samples", "usd"), [(0, 0), (2e9, 180), (3e9, 180 + 35), (252e9, 180 + 8750), (262e9, 180 + 8750 + 160)]
)
def test_each_step_has_its_price(samples: float, usd: float) -> None:
    assert metrics_store_facts().managed.ingestion_usd(samples) == pytest.approx(usd)


def test_gpus_and_shorter_scrapes_need_more() -> None:
    slow = environment({**MONITORED, ("observability", "scrape_seconds"): 60})
    fast = environment({**MONITORED, ("observability", "scrape_seconds"): 30})
    without, full = store_size(slow, ()), store_size(slow, {"dgx01"})
    assert full.series == without.series + 8 * metrics_store_facts().series.gpu
    assert store_size(fast, ()).disk_gib == pytest.approx(2 * without.disk_gib)
    assert store_size(fast, ()).series == without.series and store_size(fast, ()).managed_usd > without.managed_usd
