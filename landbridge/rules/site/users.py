"""Rules about users, accounts and data classes."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.base import SITES
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.registry import rule

_CLASSES: DataPath = ("data_classes",)
_ACCOUNTS: DataPath = ("scheduler", "accounts")
#: Accounts of roles and images, and uids that the kernel reserves.
_SYSTEM_ACCOUNTS = frozenset(
    [
        "root",
        "daemon",
        "nobody",
        "slurm",
        "slurmrest",
        "munge",
        "mysql",
        "ansible",
        "ubuntu",
        "admin",
        "ec2-user",
        "ssm-user",
        "mlflow",
        "burst",
        "sshd",
        "systemd-network",
    ]
)
_RESERVED_UIDS = frozenset({65533, 65534, 65535})


@rule(suppressible=False)
def unknown_data_class(environment: Environment) -> Iterator[Finding]:
    """Every data class of accounts and of mlops is in data_classes.

    Source: Landbridge: data without a class is allowed at no site.
    """
    for path, name in _named_classes(environment):
        if name not in environment.data_classes:
            near = did_you_mean(name, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            yield error(path, f'unknown data class "{name}"', fix=fix, related=((*_CLASSES, "*", ""),))


@rule
def class_without_nodes(environment: Environment) -> Iterator[Finding]:
    """The data class of an account allows a site with nodes: otherwise its jobs never run.

    Source: slurm.conf(5), AllowAccounts: an account may use only partitions of the sites of its class.
    """
    has_nodes = {"onprem": bool(environment.node_groups), "aws": bool(environment.aws.pools)}
    nodes: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools"))
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        if data_class is not None and not any(has_nodes[site] for site in data_class.sites):
            message = (
                f"data of class {account.data_class} may be at {', '.join(data_class.sites)}, where there are no nodes"
            )
            path: DataPath = (*_ACCOUNTS, name, "data_class")
            related = (("data_classes", account.data_class), *nodes)
            yield error(path, message, related=related)


@rule
def duplicate_user(environment: Environment) -> Iterator[Finding]:
    """Names and uids of users are unique: two users with one uid own each other's files.

    Source: credentials(7); Slurm and NFS compare uids, not names.
    """
    names: dict[str, int] = {}
    uids: dict[int, int] = {}
    for index, user in enumerate(environment.users):
        first = names.setdefault(user.name, index)
        if first != index:
            path: DataPath = ("users", index, "name")
            yield error(path, f"the user {user.name} is repeated", related=(("users", first),))
        first = uids.setdefault(user.uid, index)
        if first != index:
            path = ("users", index, "uid")
            other = environment.users[first].name
            yield error(path, f"the uid {user.uid} is already used by {other}", related=(("users", first),))


@rule
def unknown_user(environment: Environment) -> Iterator[Finding]:
    """The users of an account are in `users`, or in a directory.

    Source: sacctmgr(1): an association of a user that exists on no node is never used.
    """
    user_names = {user.name for user in environment.users}
    for name, account in environment.scheduler.accounts.items():
        for index, user in enumerate(account.users):
            if user_names and user not in user_names:
                near = did_you_mean(user, user_names)
                fix = f'did you mean "{near}"?' if near else "add the user, or suppress this for users of a directory"
                path: DataPath = (*_ACCOUNTS, name, "users", index)
                message = f'the user "{user}" is not in users'
                yield warning(path, message, fix=fix, related=(("users", "*", ""), ("users", "*", "name")))


@rule
def user_not_in_aws(environment: Environment) -> Iterator[Finding]:
    """Users of accounts whose data may be in AWS exist on the nodes there: slurmd starts no job of an unknown uid.

    Nodes in AWS have the users of `users`, and those of a directory that answers without a password: images contain no
    secrets.
    Source: landbridge/plan/roles/hosts/users.py; sbatch(1): a job runs with the uid of its user.
    """
    directory, known_users = environment.hosts.directory, {user.name for user in environment.users}
    if not environment.aws.pools or (directory is not None and directory.bind_dn is None):
        return
    for name, account in environment.scheduler.accounts.items():
        data_class = environment.data_classes.get(account.data_class)
        absent = [user for user in account.users if user not in known_users]
        if not absent or data_class is None or "aws" not in data_class.sites:
            continue
        message = f"nodes in AWS have no user {', '.join(absent[:3])}{' …' if len(absent) > 3 else ''}: no job of theirs can run there"
        reason = (
            "add them to users"
            if directory is None
            else "add them to users, or permit anonymous queries of the directory"
        )
        related: tuple[DataPath, ...] = (("users", "*", "name"), ("aws", "pools"), ("hosts", "directory", "bind_dn"))
        yield error((*_ACCOUNTS, name, "users"), message, fix=reason, related=related)


@rule
def unknown_account(environment: Environment) -> Iterator[Finding]:
    """Accounts of parents and budgets exist, and no account is its own parent account, directly or indirectly.

    Source: sacctmgr(1), parent=; a budget of an unknown account has no effect.
    """
    accounts = environment.scheduler.accounts
    references: list[tuple[str, DataPath]] = [
        (name, ("budget", "accounts", name)) for name in environment.budget.accounts
    ]
    references += [(a.parent, (*_ACCOUNTS, name, "parent")) for name, a in accounts.items() if a.parent is not None]
    for name, path in references:
        if name not in accounts and name != "root":
            near = did_you_mean(name, accounts)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(accounts) or 'none'}"
            yield error(path, f'there is no account "{name}"', fix=fix, related=((*_ACCOUNTS, "*", ""),))
    for name in accounts:
        ancestor, steps = accounts[name].parent, 0
        while ancestor is not None and ancestor in accounts and ancestor != name and steps <= len(accounts):
            ancestor, steps = accounts[ancestor].parent, steps + 1
        if ancestor == name:
            path = (*_ACCOUNTS, name, "parent")
            yield error(
                path,
                f"the account {name} is its own parent account, directly or indirectly",
                related=((*_ACCOUNTS, "*", "parent"),),
            )


@rule(suppressible=False)
def mlflow_artifact_class(environment: Environment) -> Iterator[Finding]:
    """The class of MLflow's artifacts may be at both sites: artifacts are stored in the data hub.

    Source: Landbridge: a class that may not be in AWS has no bucket in the data hub.
    """
    class_name = environment.mlops.mlflow.data_class
    data_class = environment.data_classes.get(class_name) if class_name else None
    if data_class is not None and set(data_class.sites) != set(SITES):
        message = f"MLflow's artifacts are stored in the data hub in AWS, and data of class {class_name} may not be at both sites"
        path: DataPath = ("mlops", "mlflow", "data_class")
        yield error(path, message, related=(("data_classes", class_name or ""),))


def _named_classes(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for name, account in environment.scheduler.accounts.items():
        yield (*_ACCOUNTS, name, "data_class"), account.data_class
    if environment.mlops.mlflow.data_class is not None:
        yield ("mlops", "mlflow", "data_class"), environment.mlops.mlflow.data_class
    if environment.mlops.registry is not None and environment.mlops.registry.data_class is not None:
        yield ("mlops", "registry", "data_class"), environment.mlops.registry.data_class


@rule
def reserved_user(environment: Environment) -> Iterator[Finding]:
    """A user does not have the name or uid of a system account: a user named slurm would control every node.

    Source: Debian Policy 9.2.2 (uids), and the accounts that the roles create.
    """
    for index, user in enumerate(environment.users):
        if user.name in _SYSTEM_ACCOUNTS:
            path: DataPath = ("users", index, "name")
            yield error(path, f"{user.name} is a system account", fix="write another name")
        if user.uid in _RESERVED_UIDS:
            path = ("users", index, "uid")
            message = f"the uid {user.uid} is reserved by the kernel"
            yield error(path, message, fix="write another uid, such as 20001")


@rule
def reserved_account(environment: Environment) -> Iterator[Finding]:
    """An account is not named root, which is Slurm's own.

    Source: sacctmgr(1): the account root exists by default.
    """
    for name in environment.scheduler.accounts:
        if name == "root":
            message = "the account name root is reserved by Slurm"
            yield error((*_ACCOUNTS, name), message, fix="write another name")


@rule
def user_twice_in_account(environment: Environment) -> Iterator[Finding]:
    """A user is written once in an account.

    Source: sacctmgr(1): an association is an account, a user and a cluster.
    """
    for name, account in environment.scheduler.accounts.items():
        for index, user in enumerate(account.users):
            if user in account.users[:index]:
                path: DataPath = (*_ACCOUNTS, name, "users", index)
                message = f"the user {user} of {name} is repeated"
                yield warning(path, message, fix="remove it")


@rule
def account_without_users(environment: Environment) -> Iterator[Finding]:
    """An account has users or child accounts.

    Not checked if users come from a directory.
    Source: sacctmgr(1): jobs are of a user in an account.
    """
    accounts = environment.scheduler.accounts
    parents = {account.parent for account in accounts.values()}
    for name, account in accounts.items():
        if environment.users and not account.users and name not in parents:
            message = f"the account {name} has no users"
            related: tuple[DataPath, ...] = (
                (*_ACCOUNTS, name, "users"),
                (*_ACCOUNTS, "*", "parent"),
                (*_ACCOUNTS, "*", ""),
            )
            path: DataPath = (*_ACCOUNTS, name)
            yield warning(path, message, fix="write its users", related=related)
