"""Rules about guardrails: alarms with subscribers, and budgets that can stop launches."""

from collections.abc import Iterator

from landbridge.catalog.aws.access.guardrails import guardrails
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.alarms import wants_alarms
from landbridge.plan.aws.guardrails import has_budgets, subscribers
from landbridge.rules.registry import rule

_BUDGET: DataPath = ("budget",)
_MONTHLY: DataPath = ("budget", "monthly_usd")
_GUARDRAILS: DataPath = ("aws", "guardrails")


@rule
def budget_without_subscriber(environment: Environment) -> Iterator[Finding]:
    """An alarm has a subscriber: AWS Budgets sends e-mail, and the owner is not always an e-mail address.

    Source: AWS Budgets API Reference, "Subscriber": an address for e-mail.
    """
    requested = {
        _MONTHLY: environment.budget.monthly_usd,
        (*_GUARDRAILS, "anomaly_usd"): environment.aws.guardrails.anomaly_usd,
    }
    for path, amount in requested.items():
        if amount is not None and not subscribers(environment):
            message = f'the alarm has no subscriber: owner "{environment.owner}" is not an e-mail address'
            related: tuple[DataPath, ...] = (("owner",), (*_BUDGET, "subscribers"))
            yield error(path, message, fix="write e-mail addresses in budget.subscribers", related=related)


@rule
def budget_hard_without_amount(environment: Environment) -> Iterator[Finding]:
    """A hard budget has an amount: without one, it never stops a launch.

    Source: AWS Budgets User Guide, "Configuring budget actions": an action belongs to a budget's threshold.
    """
    if environment.budget.hard and environment.budget.monthly_usd is None:
        path: DataPath = (*_BUDGET, "hard")
        yield error(path, "a hard budget without monthly_usd never stops a launch", fix="write monthly_usd")


@rule
def budget_alarms(environment: Environment) -> Iterator[Finding]:
    """The number of alarms and of subscribers is within the limits of AWS Budgets; the forecast's alarm counts.

    Source: AWS Budgets API Reference, "NotificationWithSubscribers", as in landbridge/catalog/guardrails.yaml.
    """
    budget, facts = environment.budget, guardrails().budgets
    alarms = len(set(budget.alarms)) + 1
    if alarms > facts.notifications:
        message = f"{alarms} alarms, the forecast's included; AWS Budgets allows {facts.notifications}"
        yield error((*_BUDGET, "alarms"), message, fix="remove alarms")
    if len(budget.subscribers) > facts.subscribers:
        message = f"{len(budget.subscribers)} subscribers; AWS Budgets allows {facts.subscribers} for each alarm"
        yield error((*_BUDGET, "subscribers"), message, fix="use a mailing list")


@rule
def budgets_not_available(environment: Environment) -> Iterator[Finding]:
    """Budgets, anomaly detection and cost tags need a region with AWS Budgets: GovCloud is billed in a standard account.

    Source: AWS GovCloud User Guide, "Billing and payment", as in landbridge/catalog/guardrails.yaml.
    """
    if has_budgets(environment):
        return
    budget, guardrail_settings = environment.budget, environment.aws.guardrails
    is_written: dict[DataPath, bool] = {
        _MONTHLY: budget.monthly_usd is not None,
        (*_GUARDRAILS, "anomaly_usd"): guardrail_settings.anomaly_usd is not None,
        (*_GUARDRAILS, "cost_tags"): guardrail_settings.cost_tags,
    }
    for path, written in is_written.items():
        if written:
            message = f"{environment.region} has no AWS Budgets: this setting has no effect"
            fix = "create the budget in the standard account that pays for it"
            yield warning(path, message, fix=fix, related=(("region",),))


@rule(public_aws=True)
def reaper_off(environment: Environment) -> Iterator[Finding]:
    """The reaper is on: without it, nodes run while the site cannot be reached, unless they terminate themselves.

    Source: Landbridge: leases are renewed by the controller, which is on-prem.
    """
    aws = environment.aws
    if aws.guardrails.reaper is False and aws.pools:
        message = "the reaper is off: nodes with an expired lease continue to run and are billed"
        path: DataPath = (*_GUARDRAILS, "reaper")
        yield warning(path, message, fix="remove reaper: false; the function costs cents a month")


@rule
def alarms_without_subscriber(environment: Environment) -> Iterator[Finding]:
    """An alarm has a subscriber: without an e-mail address no alarm is created, and an outage stays unknown.

    Source: SNS Developer Guide, "Email notifications": the endpoint of a subscription is an address.
    """
    if not wants_alarms(environment) or subscribers(environment):
        return
    message = (
        f'no alarm is created: owner "{environment.owner}" is not an e-mail address, and budget.subscribers is empty'
    )
    related: tuple[DataPath, ...] = (("owner",), (*_BUDGET, "subscribers"), (*_GUARDRAILS, "alarms"))
    fix = "write e-mail addresses in budget.subscribers, or aws.guardrails.alarms: false"
    report = error if environment.aws.guardrails.alarms else warning
    path: DataPath = (*_GUARDRAILS, "alarms") if environment.aws.guardrails.alarms else ("owner",)
    yield report(path, message, fix=fix, related=related)


@rule(public_aws=True)
def alarms_off(environment: Environment) -> Iterator[Finding]:
    """Alarms are on: otherwise a tunnel, a reaper or a burst controller that is down is noticed by users.

    Source: Landbridge: the stand-by parts (second tunnel, leases) hide the outage of the first.
    """
    if environment.aws.guardrails.alarms is False:
        message = "the alarms are off: an outage of the link, the reaper or the burst controller sends no message"
        yield warning((*_GUARDRAILS, "alarms"), message, fix="remove alarms: false; `landbridge cost` has the price")
