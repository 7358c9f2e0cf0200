"""Mistakes with suppressions."""

from tests.unit.rules.row import Row

ALONE = {("aws", "pools", 0, "capacity", 0): {"kind": "spot"}}
WHY = "jobs here can wait for days"

ROWS = [
    Row("unknown-suppression", "a suppression of a misspelt rule", {("suppress",): [{"rule": "spot-alnoe", "reason": WHY}]}, ("suppress", 0, "rule"), '"spot-alone"'),
    Row("unknown-suppression", "a suppression of an unknown key", {("suppress",): [{"rule": "unknown-key", "reason": WHY}]}, ("suppress", 0, "rule"), "cannot be suppressed"),
    Row("unknown-suppression", "a suppression of a rule for a law", {("suppress",): [{"rule": "class-not-in-region", "reason": WHY}]}, ("suppress", 0, "rule"), "cannot be suppressed"),
    Row("unused-suppression", "a suppression without a finding", {("suppress",): [{"rule": "spot-alone", "reason": WHY}]}, ("suppress", 0), "the suppression is unused: there is no"),
    Row("unused-suppression", "a suppression with another path", {**ALONE, ("suppress",): [{"rule": "spot-alone", "reason": WHY, "path": "aws.pools[1]"}]}, ("suppress", 0), "aws.pools[1]"),
]  # fmt: skip
