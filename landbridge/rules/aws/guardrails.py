"""Rules about what watches while nobody looks: alarms that reach somebody, and limits that can stop something."""

from collections.abc import Iterator

from landbridge.catalog.aws.guardrails import guardrails
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.guardrails import has_budgets, subscribers
from landbridge.rules.registry import rule

_BUDGET: DataPath = ("budget",)
_MONTHLY: DataPath = ("budget", "monthly_usd")
_GUARDRAILS: DataPath = ("aws", "guardrails")


@rule
def budget_without_subscriber(environment: Environment) -> Iterator[Finding]:
    """An alarm reaches somebody: AWS Budgets writes to addresses, and the owner's name is not always one.

    Source: AWS Budgets API Reference, "Subscriber": an address for e-mail.
    """
    wanted = {
        _MONTHLY: environment.budget.monthly_usd,
        (*_GUARDRAILS, "anomaly_usd"): environment.aws.guardrails.anomaly_usd,
    }
    for path, amount in wanted.items():
        if amount is not None and not subscribers(environment):
            message = f'nobody would be written to: owner "{environment.owner}" is no address'
            related: tuple[DataPath, ...] = (("owner",), (*_BUDGET, "subscribers"))
            yield error(path, message, fix="name addresses in budget.subscribers", related=related)


@rule
def budget_hard_without_amount(environment: Environment) -> Iterator[Finding]:
    """A hard budget has an amount; without one there is nothing to reach, and nothing is ever stopped.

    Source: AWS Budgets User Guide, "Configuring budget actions": an action hangs on a budget's threshold.
    """
    if environment.budget.hard and environment.budget.monthly_usd is None:
        path: DataPath = (*_BUDGET, "hard")
        yield error(path, "there is no monthly_usd that could be reached", fix="set one")


@rule
def budget_alarms(environment: Environment) -> Iterator[Finding]:
    """A budget has no more alarms, and each no more addresses, than AWS Budgets takes; the forecast's alarm is one of them.

    Source: AWS Budgets API Reference, "NotificationWithSubscribers", as in landbridge/catalog/guardrails.yaml.
    """
    own, facts = environment.budget, guardrails().budgets
    alarms = len(set(own.alarms)) + 1
    if alarms > facts.notifications:
        message = f"{alarms} alarms with the forecast's; AWS Budgets takes {facts.notifications}"
        yield error((*_BUDGET, "alarms"), message, fix="keep the ones that somebody acts on")
    if len(own.subscribers) > facts.subscribers:
        message = f"{len(own.subscribers)} addresses; AWS Budgets takes {facts.subscribers}"
        yield error((*_BUDGET, "subscribers"), message, fix="use a mailing list")


@rule
def budgets_not_available(environment: Environment) -> Iterator[Finding]:
    """Budgets, anomalies and cost tags are where the bill is: not in GovCloud, whose costs are in the account beside it.

    Source: AWS GovCloud User Guide, "Billing and payment", as in landbridge/catalog/guardrails.yaml.
    """
    if has_budgets(environment):
        return
    own, wanted = environment.budget, environment.aws.guardrails
    asked: dict[DataPath, bool] = {
        _MONTHLY: own.monthly_usd is not None,
        (*_GUARDRAILS, "anomaly_usd"): wanted.anomaly_usd is not None,
        (*_GUARDRAILS, "cost_tags"): wanted.cost_tags,
    }
    for path, here in asked.items():
        if here:
            message = f"{environment.region} has no AWS Budgets: nothing is made, and nobody is written to"
            fix = "make the budget in the standard account that pays"
            yield warning(path, message, fix=fix, related=(("region",),))


@rule(public_aws=True)
def reaper_off(environment: Environment) -> Iterator[Finding]:
    """Something ends nodes when the site is dark; without it they run until somebody looks, or end themselves if they still can.

    Source: Landbridge: leases are renewed by the controller, which is on-prem.
    """
    aws = environment.aws
    if aws.guardrails.reaper is False and aws.pools:
        message = "nothing in AWS ends nodes whose lease is over"
        path: DataPath = (*_GUARDRAILS, "reaper")
        yield warning(path, message, fix="leave it away: it costs cents")
