"""MLflow's workspaces: one for each team, in the server of each data class of the team's accounts.

A workspace has the name of its team, so that a team has the same one in each of its servers. The members are the users of the
team's accounts with the class; a user of its other accounts is not a member.
Source: MLflow 3.17.2, store/workspace/abstract_store.py, WorkspaceNameValidator (read 2026-11-26).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.environment.teams import ModelRights, Team


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Users with rights on a registered model: to register versions, to move aliases, and to read it from another team."""

    name: str
    register: tuple[str, ...]
    promote: tuple[str, ...]
    read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TeamWorkspace:
    """Workspace of a team in the server of a data class."""

    name: str
    members: tuple[str, ...]
    models: tuple[ModelAccess, ...]


def workspaces(environment: Environment, data_class: str) -> tuple[TeamWorkspace, ...]:
    """Return the workspaces in the server of a data class, in the order of `mlops.teams`."""
    teams = environment.mlops.teams
    members = {name: team_members(environment, team, data_class) for name, team in teams.items()}
    return tuple(
        TeamWorkspace(
            name, members[name], tuple(_access(model, rights, name, members) for model, rights in team.models.items())
        )
        for name, team in teams.items()
        if _accounts(environment, team, data_class)
    )


def account_workspace(environment: Environment, account: str) -> str:
    """Return the workspace of an account's jobs; empty for an account without a team."""
    return next((name for name, team in environment.mlops.teams.items() if account in team.accounts), "")


def team_members(environment: Environment, team: Team, data_class: str | None = None) -> tuple[str, ...]:
    """Return the users of a team's accounts, of one data class or of all."""
    accounts = environment.scheduler.accounts
    return tuple(sorted({user for name in _accounts(environment, team, data_class) for user in accounts[name].users}))


def _accounts(environment: Environment, team: Team, data_class: str | None) -> list[str]:
    known = environment.scheduler.accounts
    return [name for name in team.accounts if name in known and data_class in (None, known[name].data_class)]


def _access(model: str, rights: ModelRights, team: str, members: Mapping[str, tuple[str, ...]]) -> ModelAccess:
    team_users = members[team]
    readers = {user for reader in rights.readers for user in members.get(reader, ())}
    return ModelAccess(
        name=model,
        register=team_users
        if rights.may_register is None
        else tuple(user for user in team_users if user in rights.may_register),
        promote=team_users
        if rights.may_promote is None
        else tuple(user for user in team_users if user in rights.may_promote),
        read=tuple(sorted(readers - set(team_users))),
    )
