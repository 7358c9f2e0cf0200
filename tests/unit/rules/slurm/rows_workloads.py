"""Mistakes with workload classes and data sets."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

PLACEMENT: DataPath = ("placement",)
CLASSES: DataPath = ("placement", "classes")
PATIENTS: DataPath = ("scheduler", "accounts", "clinic")
CLINIC = {"users": ["bob"], "data_class": "restricted"}
VISION = {"accounts": ["vision"]}

ROWS = [
    Row("unknown-in-placement", "a misspelt account of a workload class", {CLASSES: {"baseline": {"accounts": ["visoin"]}}}, (*CLASSES, "baseline", "accounts", 0), '"vision"'),
    Row("unknown-in-placement", "a misspelt partition of a workload class", {CLASSES: {"experiments": {"partitions": ["p55"]}}}, (*CLASSES, "experiments", "partitions", 0), '"p5"'),
    Row("unknown-in-placement", "an unknown quality of service of a workload class", {CLASSES: {"experiments": {"qos": ["scavenger"]}}}, (*CLASSES, "experiments", "qos", 0), "normal"),
    Row("unknown-in-placement", "a data set with a misspelt data class", {PLACEMENT: {"data_sets": {"imagenet": {"data_class": "internl", "site": "onprem", "gb": 150}}}}, ("placement", "data_sets", "imagenet", "data_class"), '"internal"'),
    Row("workload-without-a-place", "a workload class in AWS with an account whose data stays on-prem", {PATIENTS: CLINIC, CLASSES: {"inference": {"accounts": ["clinic"], "sites": ["aws"]}}}, (*CLASSES, "inference", "accounts", 0), "clinic (restricted) may not be there"),
    Row("workload-without-a-place", "a workload class on-prem with partitions in AWS", {CLASSES: {"baseline": {"partitions": ["p5"]}}}, (*CLASSES, "baseline", "partitions"), "none of its partitions"),
    Row("workload-without-a-place", "a workload class for spot without spot capacity", {CLASSES: {"experiments": {**VISION, "sites": ["aws"], "instruments": ["spot"]}}}, (*CLASSES, "experiments", "instruments"), "has on_demand there"),
    Row("workload-never-first", "a workload class whose jobs all belong to an earlier one", {CLASSES: {"sensitive": VISION, "baseline": {**VISION, "names": ["train-*"]}}}, (*CLASSES, "baseline"), "belongs to class sensitive"),
    Row("workload-not-enforced", "a workload class without selectors", {CLASSES: {"baseline": {"sites": ["onprem"]}}}, (*CLASSES, "baseline"), "no selector"),
    Row("workload-not-enforced", "a workload class in an environment without accounts", {("scheduler", "accounts"): {}, CLASSES: {"baseline": {"names": ["train-*"]}}}, (*CLASSES, "baseline"), "no submission is checked"),
    Row("data-set-out-of-place", "a data set in AWS whose data must stay on-prem", {PLACEMENT: {"data_sets": {"scans": {"data_class": "restricted", "site": "aws", "gb": 900}}}}, ("placement", "data_sets", "scans", "site"), "may not be in AWS"),
]  # fmt: skip
