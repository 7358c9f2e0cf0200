"""Judgement of the burst controller by its metrics: instances, spending against the budget, and what stops launches. Pure."""

from collections.abc import Sequence

from landbridge.environment import Environment
from landbridge.ops.status.facts import BurstSamples
from landbridge.ops.status.report import Judged, OperatorTask, StatusLine, duration
from landbridge.timestamps import iso, month_of

#: Landbridge's choice: seconds since the last pass from which the controller counts as stopped; passes are seconds apart.
PASS_SECONDS = 120
_NEAR_PERCENT = 80
_DOCTOR = "sudo landbridge burst doctor (on the controller)"
_STATUS = "sudo landbridge burst status (on the controller)"


def burst_judged(
    environment: Environment, controllers: Sequence[BurstSamples], reasons: Sequence[str], now: float
) -> Judged:
    """Yield the state of bursting. `controllers`: the metrics of each controller that answered."""
    acting = [samples for samples in controllers if samples.value("active")]
    newest = max(acting, key=lambda samples: samples.value("last_pass_timestamp_seconds") or 0, default=None)
    if newest is None:
        for reason in reasons:
            yield StatusLine("burst", "not read", reason)
        if controllers or not reasons:
            yield StatusLine("burst", "attention", "no controller acts: nothing is launched")
        yield OperatorTask(1, "no burst controller acts, or none could be read", _DOCTOR)
        return
    age = now - (newest.value("last_pass_timestamp_seconds") or 0)
    if age > PASS_SECONDS:
        yield StatusLine("burst", "attention", f"the last pass of the controller ended {duration(age)} ago")
        yield OperatorTask(1, "the burst controller makes no pass", _DOCTOR)
    yield from _instances(newest)
    yield from _spending(environment, newest, now)
    yield from _stops(newest, now)


def _instances(samples: BurstSamples) -> Judged:
    numbers = {
        pool: round(samples.sum("instances", pool=pool))
        for pool in sorted({labels["pool"] for labels in samples.labels("instances")})
    }
    text = ", ".join(f"{pool} {number}" for pool, number in numbers.items())
    yield StatusLine("burst", "ok", f"{sum(numbers.values())} instances{f': {text}' if text else ''}")
    for name, meaning in (
        ("unowned_instances", "instances run without a node"),
        ("refused_terminations", "instances that EC2 refuses to terminate"),
        ("impaired_instances", "instances with a failed status check"),
    ):
        number = round(samples.sum(name))
        if number:
            yield StatusLine("burst", "attention", f"{number} {meaning}")
            yield OperatorTask(1 if name == "refused_terminations" else 2, f"{number} {meaning}", _STATUS)
    kept_nodes = round(samples.sum("kept_nodes"))
    if kept_nodes:
        yield StatusLine("burst", "ok", f"{kept_nodes} nodes are kept by an operator")


def _spending(environment: Environment, samples: BurstSamples, now: float) -> Judged:
    month, budget = month_of(now), environment.budget
    limits: list[tuple[str, dict[str, str], float | None]] = [("", {}, budget.monthly_usd)]
    limits += [
        (f"account {name}: ", {"account": name}, account.monthly_usd)
        for name, account in sorted(budget.accounts.items())
    ]
    limits += [(f"pool {name}: ", {"pool": name}, usd) for name, usd in sorted(budget.pools.items())]
    for subject, labels, limit in limits:
        spent = samples.sum("spent_usd", month=month, **labels)
        held = samples.sum("held_usd", month=month, **labels)
        text = f"{subject}{spent:,.2f} USD spent this month, {held:,.2f} held"
        if limit is None:
            yield StatusLine("burst", "ok", f"{text}, no limit")
            continue
        percent = 100 * (spent + held) / limit if limit else 100.0
        near = percent >= _NEAR_PERCENT
        text = f"{text}, {percent:.0f}% of {limit:,.2f}"
        yield StatusLine("burst", "attention" if near else "ok", text)
        if near:
            yield OperatorTask(
                1 if percent >= 100 else 3, text, "landbridge burst cost --by account (on the controller)"
            )


def _stops(samples: BurstSamples, now: float) -> Judged:
    for labels in samples.labels("breaker_open"):
        text = f"pool {labels['pool']}: launches stopped by {labels['code']}"
        yield StatusLine("burst", "attention", text)
        yield OperatorTask(
            1, text, f"sudo landbridge burst reset-breaker {labels['pool']} (on the controller, when mended)"
        )
    for labels, until in samples.samples.get("insufficient_capacity_until_seconds", ()):
        if until > now:
            text = f"{labels['offering']}: insufficient capacity, not tried before {iso(until)}"
            yield StatusLine("burst", "ok", text)
    for labels, number in samples.samples.get("jobs_backed_off", ()):
        yield StatusLine("burst", "ok", f"{number:.0f} jobs wait after {labels['code']}")
    for labels in samples.labels("unread_statuses"):
        where = f" in {labels['region']}" if labels.get("region") else ""
        text = f"status checks{where} could not be read: {labels['code']}"
        yield StatusLine("burst", "not read", text)
