"""Mistakes with CPU options."""

from tests.unit.rules.parts import CAPACITY, FALLBACK, ON_DEMAND, POOL
from tests.unit.rules.row import Row

TYPE = (*POOL, "instance")
THREADS = (*POOL, "threads_per_core")
ANYWHERE = {CAPACITY: ON_DEMAND}

ROWS = [
    Row("threads-per-core", "SMT off on bare metal", {**ANYWHERE, TYPE: "g4dn.metal", THREADS: 1}, THREADS, "bare metal"),
    Row("threads-per-core", "two threads on a processor without SMT", {**ANYWHERE, TYPE: "m7g.large", THREADS: 2}, THREADS, "valid: 1"),
    Row("threads-per-core", "a fallback of bare metal", {**ANYWHERE, TYPE: "c7i.24xlarge", FALLBACK: {**ON_DEMAND, "instance": "c7i.metal-24xl"}, THREADS: 1}, THREADS, "c7i.metal-24xl"),
    Row("threads-per-core", "SMT off on a type without known values", {**ANYWHERE, TYPE: "g5.48xlarge", THREADS: 1}, THREADS, "not recorded"),
    Row("fallback-processors", "a fallback with fewer cores without SMT", {**ANYWHERE, TYPE: "g6.48xlarge", FALLBACK: {**ON_DEMAND, "instance": "g6.12xlarge"}, THREADS: 1}, (*FALLBACK, "instance"), "24 CPUs"),
]  # fmt: skip
