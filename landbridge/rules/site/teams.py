"""Rules about the teams of MLflow: their names, their accounts, and the rights on their models."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error
from landbridge.plan.site.teams.workspaces import account_workspace, team_members
from landbridge.rules.registry import rule

_TEAMS: DataPath = ("mlops", "teams")
_ACCOUNTS: DataPath = ("scheduler", "accounts")
_SHORTEST_NAME = 2
_RESERVED = frozenset({"default", "workspaces", "api", "ajax-api", "static-files"})


@rule
def team_names(environment: Environment) -> Iterator[Finding]:
    """The name of a team is one that MLflow accepts for a workspace, and the site has an MLflow of Landbridge.

    Source: MLflow 3.17.2, store/workspace/abstract_store.py, WorkspaceNameValidator (read 2026-11-26).
    """
    teams = environment.mlops.teams
    if teams and environment.existing_slurm is not None:
        message = "Landbridge configures no MLflow for a Slurm that runs already: the teams have no workspace"
        yield error(_TEAMS, message, fix="remove the line", related=(("onprem", "existing_slurm"),))
    for name in teams:
        if len(name) < _SHORTEST_NAME or name in _RESERVED:
            message = f'MLflow takes no workspace with the name "{name}"'
            yield error((*_TEAMS, name), message, fix="write another name with 2 characters or more")


@rule
def team_accounts(environment: Environment) -> Iterator[Finding]:
    """With teams, every Slurm account is of exactly one team: the workspace of a job is its team's workspace.

    MLflow's default workspace is closed then. Source: Landbridge (docs/explanation/models.md).
    """
    teams, accounts = environment.mlops.teams, environment.scheduler.accounts
    teams_by_account: dict[str, str] = {}
    for name, team in teams.items():
        path = (*_TEAMS, name, "accounts")
        for index, account in enumerate(team.accounts):
            if account not in accounts:
                near = did_you_mean(account, accounts)
                fix = f'did you mean "{near}"?' if near else f"known: {', '.join(accounts) or 'none'}"
                yield error((*path, index), f'unknown account "{account}"', fix=fix, related=((*_ACCOUNTS, "*", ""),))
            elif account in teams_by_account:
                message = f"the account {account} is of the team {teams_by_account[account]} too"
                related: tuple[DataPath, ...] = ((*_TEAMS, teams_by_account[account], "accounts"),)
                yield error((*path, index), message, fix="remove it from one of them", related=related)
            teams_by_account.setdefault(account, name)
    for account in accounts if teams else ():
        if not account_workspace(environment, account):
            message = f"the account {account} is of no team: its jobs have no workspace, and cannot record runs"
            fix = "add it to the accounts of a team"
            yield error((*_ACCOUNTS, account), message, fix=fix, related=(_TEAMS,))


@rule
def team_models(environment: Environment) -> Iterator[Finding]:
    """Users with a right on a team's model are members of the team, and its readers are other teams.

    Source: Landbridge (docs/explanation/models.md).
    """
    teams = environment.mlops.teams
    for name, team in teams.items():
        members = team_members(environment, team)
        for model, rights in team.models.items():
            path = (*_TEAMS, name, "models", model)
            for key, users in (("may_register", rights.may_register), ("may_promote", rights.may_promote)):
                for index, user in enumerate(users or ()):
                    if user not in members:
                        message = f"{user} is not in the team {name}: no account of the team has this user"
                        fix = f"members: {', '.join(members) or 'none'}"
                        yield error((*path, key, index), message, fix=fix, related=((*_TEAMS, name, "accounts"),))
            for index, reader in enumerate(rights.readers):
                if reader not in teams or reader == name:
                    near = did_you_mean(reader, [each for each in teams if each != name])
                    fix = f'did you mean "{near}"?' if near else "write the name of another team"
                    message = f'"{reader}" is not another team'
                    yield error((*path, "readers", index), message, fix=fix, related=((*_TEAMS, "*", ""),))
