"""Generated queues and small scenarios for tests of the replay. `python -m tests.unit.simulation.queues` rewrites
data/trace.csv."""

import csv
import math
import random
from datetime import UTC, datetime
from pathlib import Path

from landbridge.burst.model import AccountPolicy, BurstPolicy, Offering, PoolPolicy, PromotionPolicy
from landbridge.simulation.scenario import Scenario, ScenarioPool

TRACE = Path(__file__).parent / "data" / "trace.csv"
#: 2017-10-30: a queue of four days crosses the end of a month.
START = datetime(2017, 10, 30, tzinfo=UTC).timestamp()
JOBS = 400


def generated_jobs(jobs: int = JOBS, seed: int = 7) -> list[dict[str, object]]:
    """Generate typical jobs: most are short and on one GPU, some run for days, with bursts of submissions by day."""
    generator, rows, now = random.Random(seed), list[dict[str, object]](), START
    for _ in range(jobs):
        daytime = 8 <= (now / 3600) % 24 < 20
        now += generator.expovariate(1 / (400 if daytime else 1600))
        gpus = generator.choices((1, 2, 4, 8, 16, 32), (60, 10, 10, 14, 4, 2))[0]
        seconds = min(math.exp(generator.gauss(8.2, 1.9)), 4 * 86_400)
        when = datetime.fromtimestamp(now, UTC)
        rows.append(
            {
                "timestamp": f"{when:%Y-%m-%d %H:%M:%S}",
                "duration": round(max(seconds, 30.0), 1),
                "num_gpus": gpus,
                "cluster": generator.choice(("speech", "vision", "ads")),
            }
        )
    return rows


def scenario(
    nodes: int = 2,
    gpus: int = 4,
    pools: tuple[tuple[int, int], ...] = ((3, 0),),
    *,
    boot: float = 600.0,
    cap: float | None = None,
    cluster_cap: float | None = None,
    wait: float | None = None,
    usd: float = 40.0,
    suspend: float = 300.0,
    size: int | None = None,
    kind: str = "on_demand",
) -> Scenario:
    """Return a site and pools (maximum and minimum nodes), with one account that may burst and one that may not."""
    named = {f"p{number}": pool for number, pool in enumerate(pools, start=1)}
    offerings = {
        name: tuple(
            Offering(f"{name}/{zone}", kind, "x", f"s-{zone}", zone, "on-demand", "lt", "1", usd_hour=usd, size=size)
            for zone in ("a", "b")
        )
        for name in named
    }
    policy = BurstPolicy(
        cluster="c",
        region="r",
        pools={
            name: PoolPolicy(name, f"{name}-", max_nodes, offerings[name], boot_seconds=boot, min_nodes=min_nodes)
            for name, (max_nodes, min_nodes) in named.items()
        },
        accounts={
            "open": AccountPolicy("open", "internal", True, monthly_usd=cap, hard=cap is not None),
            "shut": AccountPolicy("shut", "patients", False),
        },
        monthly_usd=cluster_cap,
        hard=cluster_cap is not None,
    )
    return Scenario(
        "test",
        ((nodes, gpus),) if nodes else (),
        tuple(ScenarioPool(name, gpus, suspend) for name in named),
        policy,
        None if wait is None else PromotionPolicy("gpu", tuple(named), wait),
    )


def main() -> None:
    """Write the sample trace."""
    rows = generated_jobs()
    with TRACE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
