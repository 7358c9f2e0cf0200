"""Mistakes with instance types."""

from tests.unit.rules.parts import CAPACITY, FALLBACK, ON_DEMAND, POOL, SECOND, pool
from tests.unit.rules.row import Row

DRIVER = (*POOL, "driver")
TYPE = (*POOL, "instance")
OTHER = (*FALLBACK, "instance")
PARTITIONS = ("scheduler", "partitions")
ANYWHERE = {CAPACITY: ON_DEMAND}

ROWS = [
    Row("unknown-instance-type", "misspelt instance type", {TYPE: "p5.48xlrge"}, TYPE, '"p5.48xlarge"'),
    Row("unknown-instance-type", "misspelt family", {TYPE: "p6-b2000.48xlarge"}, TYPE, '"p6-b200.48xlarge"'),
    Row("unknown-instance-type", "misspelt fallback type", {FALLBACK: {**ON_DEMAND, "instance": "p5e.48xlagre"}}, OTHER, '"p5e.48xlarge"'),
    Row("unknown-instance-type", "an UltraServer for an instance type", {TYPE: "u-p6e-gb200x72"}, TYPE, "UltraServer"),
    Row("unknown-instance-type", "a type with an eighth of a GPU", {TYPE: "g6f.xlarge"}, TYPE, "1/8 of an L4 (2861 MiB)"),
    Row("fallback-accelerators", "a fallback with fewer GPUs", {FALLBACK: {**ON_DEMAND, "instance": "p5.4xlarge"}}, OTHER, "1 H100"),
    Row("fallback-accelerators", "a fallback with other GPUs", {FALLBACK: {**ON_DEMAND, "instance": "p4d.24xlarge"}}, OTHER, "A100"),
    Row("fallback-accelerators", "a fallback with half the GPU memory", {**ANYWHERE, TYPE: "p4de.24xlarge", FALLBACK: {**ON_DEMAND, "instance": "p4d.24xlarge"}}, OTHER, "40960 MiB"),
    Row("fallback-processors", "a fallback with fewer CPUs", {**ANYWHERE, TYPE: "g6.48xlarge", FALLBACK: {**ON_DEMAND, "instance": "g6.12xlarge"}}, OTHER, "48 CPUs"),
    Row("fallback-processors", "a fallback with less memory", {**ANYWHERE, TYPE: "g6e.24xlarge", FALLBACK: {**ON_DEMAND, "instance": "g6e.12xlarge"}}, OTHER, "393216 MiB"),
    Row("fallback-processors", "a fallback with other threads a core", {**ANYWHERE, TYPE: "m7i.large", FALLBACK: {**ON_DEMAND, "instance": "m7g.large"}}, OTHER, "threads"),
    Row("fallback-architecture", "a fallback of another architecture", {**ANYWHERE, TYPE: "m7i.large", FALLBACK: {**ON_DEMAND, "instance": "m7g.large"}}, OTHER, "arm64"),
    Row("fallback-network", "a fallback with another number of EFA cards", {**ANYWHERE, TYPE: "trn1n.32xlarge", FALLBACK: {**ON_DEMAND, "instance": "trn1.32xlarge"}}, OTHER, "8 cards"),
    Row("driver-flavour", "open modules for V100", {**ANYWHERE, TYPE: "p3dn.24xlarge", DRIVER: "open"}, DRIVER, "V100"),
    Row("driver-flavour", "proprietary modules for Blackwell", {**ANYWHERE, TYPE: "p6-b200.48xlarge", DRIVER: "proprietary"}, DRIVER, "B200"),
    Row("driver-flavour", "NVIDIA's driver for Trainium", {**ANYWHERE, TYPE: "trn1.32xlarge", DRIVER: "open"}, DRIVER, "NVIDIA"),
    Row("driver-flavour", "a GPU driver for a type without GPUs", {**ANYWHERE, TYPE: "m7i.large", DRIVER: "open"}, DRIVER, "no accelerator"),
    Row("ultraserver-without-block", "one instance of an UltraServer on demand", {TYPE: "p6e-gb200.36xlarge"}, (*CAPACITY, "kind"), "u-p6e-gb200"),
    Row("pool-without-accelerator", "nodes without GPUs in the partition of GPUs", {**ANYWHERE, TYPE: "m7i.large"}, TYPE, "m7i.large has no accelerator, and its nodes"),
    Row("mixed-partition", "two models of GPUs in one partition", {SECOND: pool(instance="p4d.24xlarge"), PARTITIONS: {"both": {"nodes": ["p5", "other"]}}}, (*PARTITIONS, "both", "nodes", 1), "A100"),
    Row("mixed-partition", "one model of GPUs with two sizes of memory in one partition", {**ANYWHERE, TYPE: "p4d.24xlarge", SECOND: pool(instance="p4de.24xlarge"), PARTITIONS: {"both": {"nodes": ["p5", "other"]}}}, (*PARTITIONS, "both", "nodes", 1), "A100 of 81920 MiB"),
    Row("mixed-partition", "pools with and without GPUs in one partition", {SECOND: pool(instance="m7i.large"), PARTITIONS: {"both": {"nodes": ["p5", "other"]}}}, (*PARTITIONS, "both", "nodes", 1), "no accelerator"),
]  # fmt: skip
