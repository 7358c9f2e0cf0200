"""Mistakes with budgets, cost anomalies, alarms and the reaper."""

from tests.unit.rules.row import Row

BUDGET, GUARDRAILS = ("budget",), ("aws", "guardrails")
MANY = [f"p{number}@example.org" for number in range(11)]

ROWS = [
    Row("budget-without-subscriber", "an alarm without a subscriber", {("owner",): "the platform team", BUDGET: {"monthly_usd": 1000}}, (*BUDGET, "monthly_usd"), "an e-mail address"),
    Row("budget-without-subscriber", "an anomaly alarm without a subscriber", {("owner",): "the platform team", GUARDRAILS: {"anomaly_usd": 100}}, (*GUARDRAILS, "anomaly_usd"), "budget.subscribers"),
    Row("budget-hard-without-amount", "a hard budget without an amount", {BUDGET: {"hard": True}}, (*BUDGET, "hard"), "monthly_usd"),
    Row("budget-alarms", "an alarm at every ten percent", {BUDGET: {"monthly_usd": 120000, "alarms": list(range(10, 101, 10))}}, (*BUDGET, "alarms"), "11 alarms"),
    Row("budget-alarms", "alarms to more subscribers than AWS permits", {BUDGET: {"monthly_usd": 120000, "subscribers": MANY}}, (*BUDGET, "subscribers"), "mailing list"),
    Row("budgets-not-available", "a budget in GovCloud", {BUDGET: {"monthly_usd": 120000}}, (*BUDGET, "monthly_usd"), "standard account", region="us-gov-west-1"),
    Row("budgets-not-available", "cost tags in GovCloud", {GUARDRAILS: {"cost_tags": True}}, (*GUARDRAILS, "cost_tags"), "us-gov-west-1", region="us-gov-west-1"),
    Row("reaper-off", "no reaper that terminates nodes while the site is down", {GUARDRAILS: {"reaper": False}}, (*GUARDRAILS, "reaper"), "lease"),
    Row("alarms-without-subscriber", "alarms without a subscriber", {("owner",): "the platform team"}, ("owner",), "budget.subscribers"),
    Row("alarms-without-subscriber", "alarms that are asked for, without a subscriber", {("owner",): "the platform team", GUARDRAILS: {"alarms": True}}, (*GUARDRAILS, "alarms"), "no alarm is created"),
    Row("alarms-off", "no alarm when the link is down", {GUARDRAILS: {"alarms": False}}, (*GUARDRAILS, "alarms"), "sends no message"),
]  # fmt: skip
