"""Mistakes with teams of MLflow."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

TEAMS: DataPath = ("mlops", "teams")
LAB = {("scheduler", "accounts", "lab"): {"users": ["bob"], "data_class": "internal"}}
ONE: dict[DataPath, Any] = {TEAMS: {"vision": {"accounts": ["vision"]}}}
BOTH: dict[str, Any] = {"accounts": ["lab"]}


def _digits(**rights: list[str]) -> dict[DataPath, Any]:
    return {**LAB, TEAMS: {"vision": {"accounts": ["vision"], "models": {"digits": rights}}, "lab": BOTH}}


DIGITS: DataPath = (*TEAMS, "vision", "models", "digits")

ROWS = [
    Row("team-names", "a team with the name of MLflow's default workspace", {TEAMS: {"default": {"accounts": ["vision"]}}}, (*TEAMS, "default"), "another name"),
    Row("team-accounts", "a team with a misspelt account", {TEAMS: {"vision": {"accounts": ["vision", "visoin"]}}}, (*TEAMS, "vision", "accounts", 1), '"vision"'),
    Row("team-accounts", "an account of two teams", {TEAMS: {"vision": {"accounts": ["vision"]}, "lab": {"accounts": ["vision"]}}}, (*TEAMS, "lab", "accounts", 0), "the team vision too"),
    Row("team-accounts", "an account of no team", {**LAB, **ONE}, ("scheduler", "accounts", "lab"), "no workspace"),
    Row("team-models", "a promoter of another team", _digits(may_promote=["bob"]), (*DIGITS, "may_promote", 0), "members: alice"),
    Row("team-models", "a model that a misspelt team reads", _digits(readers=["lob"]), (*DIGITS, "readers", 0), '"lab"'),
]  # fmt: skip
