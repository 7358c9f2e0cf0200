"""Mistakes with what watches while nobody looks."""

from tests.unit.rules.row import Row

BUDGET, GUARDRAILS = ("budget",), ("aws", "guardrails")
MANY = [f"p{number}@example.org" for number in range(11)]

ROWS = [
    Row("budget-without-subscriber", "an alarm that nobody hears", {("owner",): "the platform team", BUDGET: {"monthly_usd": 1000}}, (*BUDGET, "monthly_usd"), "an e-mail address"),
    Row("budget-without-subscriber", "an anomaly that nobody hears of", {("owner",): "the platform team", GUARDRAILS: {"anomaly_usd": 100}}, (*GUARDRAILS, "anomaly_usd"), "budget.subscribers"),
    Row("budget-hard-without-amount", "a hard budget without an amount", {BUDGET: {"hard": True}}, (*BUDGET, "hard"), "monthly_usd"),
    Row("budget-alarms", "an alarm at every tenth", {BUDGET: {"monthly_usd": 120000, "alarms": list(range(10, 101, 10))}}, (*BUDGET, "alarms"), "11 alarms"),
    Row("budget-alarms", "alarms to everybody", {BUDGET: {"monthly_usd": 120000, "subscribers": MANY}}, (*BUDGET, "subscribers"), "mailing list"),
    Row("budgets-not-available", "a budget in GovCloud", {BUDGET: {"monthly_usd": 120000}}, (*BUDGET, "monthly_usd"), "standard account", region="us-gov-west-1"),
    Row("budgets-not-available", "cost tags in GovCloud", {GUARDRAILS: {"cost_tags": True}}, (*GUARDRAILS, "cost_tags"), "us-gov-west-1", region="us-gov-west-1"),
    Row("reaper-off", "nobody ends nodes while the site is dark", {GUARDRAILS: {"reaper": False}}, (*GUARDRAILS, "reaper"), "lease"),
]  # fmt: skip
