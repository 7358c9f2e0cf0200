"""Mistakes with what is accepted."""

from tests.unit.rules.row import Row

ALONE = {("aws", "pools", 0, "capacity", 0): {"kind": "spot"}}
WHY = "jobs here can wait for days"

ROWS = [
    Row("unknown-suppression", "accepting a misspelt rule", {("suppress",): [{"rule": "spot-alnoe", "reason": WHY}]}, ("suppress", 0, "rule"), '"spot-alone"'),
    Row("unknown-suppression", "accepting a misspelt key", {("suppress",): [{"rule": "unknown-key", "reason": WHY}]}, ("suppress", 0, "rule"), "cannot be suppressed"),
    Row("unknown-suppression", "accepting what a law forbids", {("suppress",): [{"rule": "class-not-in-region", "reason": WHY}]}, ("suppress", 0, "rule"), "cannot be suppressed"),
    Row("unused-suppression", "accepting what is no longer so", {("suppress",): [{"rule": "spot-alone", "reason": WHY}]}, ("suppress", 0), "the suppression is unused: there is no"),
    Row("unused-suppression", "accepting it at another place", {**ALONE, ("suppress",): [{"rule": "spot-alone", "reason": WHY, "path": "aws.pools[1]"}]}, ("suppress", 0), "aws.pools[1]"),
]  # fmt: skip
