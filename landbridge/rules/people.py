"""Rules about users, accounts, data classes and budgets."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.base import SITES
from landbridge.findings import DataPath, Finding, Severity, did_you_mean
from landbridge.rules.registry import rule

_CLASSES: DataPath = ("data_classes",)
_ACCOUNTS: DataPath = ("scheduler", "accounts")


@rule(suppressible=False)
def unknown_data_class(environment: Environment) -> Iterator[Finding]:
    """Whoever names a data class means one of data_classes: where its data may be is decided there alone."""
    for path, name in _named_classes(environment):
        if name not in environment.data_classes:
            near = did_you_mean(name, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            yield Finding("unknown-data-class", f'unknown data class "{name}"', path, fix, related=(_CLASSES,))


@rule
def class_without_place(environment: Environment) -> Iterator[Finding]:
    """An account's data must be allowed where there are nodes, else none of its jobs can ever run."""
    has_nodes = {"onprem": bool(environment.onprem.nodes), "aws": bool(environment.aws.pools)}
    nodes: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools"))
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        if data_class is not None and not any(has_nodes[site] for site in data_class.sites):
            message = (
                f"data of class {account.data_class} may be at {', '.join(data_class.sites)}, where there are no nodes"
            )
            path: DataPath = (*_ACCOUNTS, name, "data_class")
            related = (("data_classes", account.data_class), *nodes)
            yield Finding("class-without-place", message, path, related=related)


@rule(suppressible=False)
def classified_in_aws(environment: Environment) -> Iterator[Finding]:
    """Classified data never leaves the site, and FedRAMP High and ITAR data need a GovCloud region (AWS compliance pages)."""
    gov = environment.region.startswith("us-gov-")
    for name, data_class in environment.data_classes.items():
        path: DataPath = ("data_classes", name, "sites")
        related: tuple[DataPath, ...] = (("data_classes", name, "regime"), ("region",))
        if "aws" not in data_class.sites or data_class.regime is None:
            continue
        if data_class.regime == "classified":
            yield Finding("classified-in-aws", f"{name} is classified: on-prem only", path, related=related)
        elif data_class.regime in ("fedramp_high", "itar") and not gov:
            message = f"{data_class.regime} data may be in AWS GovCloud only, not in {environment.region}"
            yield Finding(
                "classified-in-aws", message, path, "use sites: [onprem], or a us-gov region", related=related
            )


@rule
def duplicate_user(environment: Environment) -> Iterator[Finding]:
    """Names and uids are one to one: two users with one uid own each other's files at both sites."""
    names: dict[str, int] = {}
    uids: dict[int, int] = {}
    for index, user in enumerate(environment.users):
        first = names.setdefault(user.name, index)
        if first != index:
            path: DataPath = ("users", index, "name")
            yield Finding("duplicate-user", f"the user {user.name} is here twice", path, related=(("users", first),))
        first = uids.setdefault(user.uid, index)
        if first != index:
            path = ("users", index, "uid")
            other = environment.users[first].name
            yield Finding("duplicate-user", f"the uid {user.uid} is {other}'s", path, related=(("users", first),))


@rule
def unknown_user(environment: Environment) -> Iterator[Finding]:
    """An account's user who is not in `users` must come from a directory; a misspelt one comes from nowhere."""
    known = {user.name for user in environment.users}
    for name, account in environment.scheduler.accounts.items():
        for index, user in enumerate(account.users):
            if known and user not in known:
                near = did_you_mean(user, known)
                fix = f'did you mean "{near}"?' if near else "add the user, or have a directory that knows them"
                path: DataPath = (*_ACCOUNTS, name, "users", index)
                message = f'the user "{user}" is not in users'
                yield Finding("unknown-user", message, path, fix, Severity.WARNING, (("users",),))


@rule
def unknown_account(environment: Environment) -> Iterator[Finding]:
    """Parents and budgets name accounts that there are; and nobody is their own ancestor."""
    accounts = environment.scheduler.accounts
    named: list[tuple[str, DataPath]] = [(name, ("budget", "accounts", name)) for name in environment.budget.accounts]
    named += [(a.parent, (*_ACCOUNTS, name, "parent")) for name, a in accounts.items() if a.parent is not None]
    for name, path in named:
        if name not in accounts and name != "root":
            near = did_you_mean(name, accounts)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(accounts) or 'none'}"
            yield Finding("unknown-account", f'there is no account "{name}"', path, fix, related=(_ACCOUNTS,))
    for name in accounts:
        above, steps = accounts[name].parent, 0
        while above is not None and above in accounts and above != name and steps <= len(accounts):
            above, steps = accounts[above].parent, steps + 1
        if above == name:
            path = (*_ACCOUNTS, name, "parent")
            yield Finding("unknown-account", f"the account {name} is its own ancestor", path, related=(_ACCOUNTS,))


@rule
def budget_sum(environment: Environment) -> Iterator[Finding]:
    """Accounts that may spend more than the whole budget make it meaningless; a warning, for few spend all."""
    total, whole = sum(b.monthly_usd for b in environment.budget.accounts.values()), environment.budget.monthly_usd
    if whole is not None and total > whole:
        message = f"the accounts' budgets are {total:,.0f} USD a month together, the whole budget is {whole:,.0f}"
        path: DataPath = ("budget", "monthly_usd")
        related: tuple[DataPath, ...] = (("budget", "accounts"),)
        yield Finding("budget-sum", message, path, severity=Severity.WARNING, related=related)


@rule(suppressible=False)
def artifacts_stay_home(environment: Environment) -> Iterator[Finding]:
    """MLflow keeps artifacts in the hub, so their class must be one that may be in AWS, at both sites to be read."""
    chosen = environment.mlops.mlflow.data_class
    data_class = environment.data_classes.get(chosen) if chosen else None
    if data_class is not None and set(data_class.sites) != set(SITES):
        message = f"MLflow's artifacts go through the hub, where data of class {chosen} may not be"
        path: DataPath = ("mlops", "mlflow", "data_class")
        yield Finding("artifacts-stay-home", message, path, related=(("data_classes", chosen or ""),))


def _named_classes(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for name, account in environment.scheduler.accounts.items():
        yield (*_ACCOUNTS, name, "data_class"), account.data_class
    if environment.mlops.mlflow.data_class is not None:
        yield ("mlops", "mlflow", "data_class"), environment.mlops.mlflow.data_class
    if environment.mlops.registry is not None and environment.mlops.registry.data_class is not None:
        yield ("mlops", "registry", "data_class"), environment.mlops.registry.data_class
