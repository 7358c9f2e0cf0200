"""Mistakes with a second controller."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.core.samples import ADDRESSES
from tests.unit.rules.row import Row

SERVICES: DataPath = ("onprem", "services")
STATE: DataPath = ("onprem", "controller_state")
PAIR: dict[DataPath, Any] = {
    (*SERVICES, "controller"): ["ctl01", "ctl02"],
    ("onprem", "addresses"): {**{name: f"10.20.0.{last}" for name, last in ADDRESSES.items()}, "ctl02": "10.20.0.16"},
}
FILER = {"host": "filer.example.org", "export": "/vol/slurm"}
ON_FILER = {("storage", "home"): {"kind": "external_nfs", "host": "filer.example.org", "export": "/vol/home"}}

ROWS = [
    Row("controller-state", "a pair without shared state", {**PAIR, **ON_FILER}, (*SERVICES, "controller", 1), "onprem.controller_state"),
    Row("controller-state", "a pair whose state is on one of the two", {**PAIR, (*SERVICES, "storage"): "ctl02"}, (*SERVICES, "controller", 1), "exports the storage"),
    Row("controller-state", "the controllers' state on a controller's own disk", {**PAIR, STATE: {**FILER, "host": "ctl01.cluster.internal"}}, (*STATE, "host"), "ctl01 is a controller: when it fails"),
    Row("controller-state", "the controllers' state on a controller, by its address", {**PAIR, STATE: {**FILER, "host": "10.20.0.16"}}, (*STATE, "host"), "ctl02 is a controller"),
    Row("controller-state-options", "the controllers' state mounted soft", {STATE: {**FILER, "options": "vers=4.2,soft"}}, (*STATE, "options"), "hard"),
    Row("controller-state-exposed", "homes whose export contains the controllers' state", {**PAIR, ("storage", "home"): {"kind": "nfs", "export": "/export"}}, ("storage", "home", "export"), "every host"),
    Row("database-beside-a-controller", "a pair's database on one of the two", {**PAIR, (*SERVICES, "database"): "ctl02"}, (*SERVICES, "database"), "accounting and"),
    Row("controller-without-sackd", "a controller on a GPU node, with auth/slurm and the database elsewhere", {("scheduler", "auth"): "slurm", (*SERVICES, "controller"): ["dgx01"]}, (*SERVICES, "controller", 0), "dgx01 is a GPU node"),
]  # fmt: skip
