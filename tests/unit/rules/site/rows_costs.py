"""Mistakes with the inputs of the cost of owned nodes."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

COSTS: DataPath = ("onprem", "costs")
NODES: DataPath = (*COSTS, "nodes")
FINANCING: DataPath = (*COSTS, "financing")
GOODPUT: DataPath = (*COSTS, "goodput")

ROWS = [
    Row("cost-years", "no years of use", {COSTS: {"years": 0}}, (*COSTS, "years"), "0 years"),
    Row("cost-years", "no years of use of one platform", {NODES: {"dgx-h100": {"years": -1}}}, (*NODES, "dgx-h100", "years"), "-1 years"),
    Row("cost-years", "a debt without years", {FINANCING: {"years": 0}}, (*FINANCING, "years"), "0 years"),
    Row("cost-shares", "a residual value above the price", {COSTS: {"residual_share": 1.2}}, (*COSTS, "residual_share"), "more than the whole price"),
    Row("cost-shares", "a residual value above the price of one platform", {NODES: {"dgx-h100": {"residual_share": 2}}}, (*NODES, "dgx-h100", "residual_share"), "0.02 for 2 percent"),
    Row("cost-shares", "maintenance in percent", {COSTS: {"maintenance_share": 5}}, (*COSTS, "maintenance_share"), "0.05 for 5 percent"),
    Row("cost-shares", "interest in percent", {FINANCING: {"rate": 8}}, (*FINANCING, "rate"), "0.08 for 8 percent"),
    Row("cost-of-unknown-nodes", "a misspelt platform with costs", {NODES: {"dgx-h10": {}}}, (*NODES, "dgx-h10"), "dgx-h100"),
    Row("cost-of-unknown-nodes", "costs of a platform without nodes", {NODES: {"dgx-h200": {}}}, (*NODES, "dgx-h200"), "no node group"),
    Row("cost-of-power", "a PUE below 1", {(*COSTS, "power"): {"pue": 0.9}}, (*COSTS, "power", "pue"), "0.9 is not possible"),
    Row("cost-of-power", "idle nodes that need more power", {NODES: {"dgx[01-02]": {"idle_kw": 11}}}, (*NODES, "dgx[01-02]", "idle_kw"), "10.2 kW with jobs"),
    Row("cost-of-financing", "a debt without a rate", {FINANCING: {"rate": None}}, (*FINANCING, "rate"), "payment_usd_month"),
    Row("cost-of-financing", "a rate and a payment", {FINANCING: {"rate": 0.1, "payment_usd_month": 9000}}, (*FINANCING, "payment_usd_month"), "beside the rate"),
    Row("cost-of-financing", "a debt after the years of use", {FINANCING: {"years": 5}}, (*FINANCING, "years"), "after 3 years of use"),
    Row("cost-of-financing", "payments below the price", {FINANCING: {"payment_usd_month": 5000}}, (*FINANCING, "payment_usd_month"), "do not repay"),
    Row("cost-of-checkpoints", "checkpoints without an end", {GOODPUT: {"checkpoint_minutes": 10, "checkpoint_every_minutes": 10}}, (*GOODPUT, "checkpoint_every_minutes"), "no time for the job"),
    Row("cost-of-checkpoints", "a job larger than the site", {GOODPUT: {"job_nodes": 3}}, (*GOODPUT, "job_nodes"), "site with 2"),
]  # fmt: skip
