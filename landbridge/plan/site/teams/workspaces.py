"""MLflow's workspaces: one for each team, in the server of each data class of the team's accounts.

A workspace has the name of its team, so that a team has the same one in each of its servers. The members are the users of the
team's accounts with the class; a user of its other accounts is not a member.
Source: MLflow 3.17.2, store/workspace/abstract_store.py, WorkspaceNameValidator (read 2026-11-26).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from landbridge.environment import Environment
from landbridge.environment.teams import ModelRights, Team
from landbridge.plan.network.services.serving import SERVING_ACCOUNT, followed_services


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
        TeamWorkspace(name, members[name], tuple(_models(environment, name, data_class, members)))
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


def _models(
    environment: Environment, team: str, data_class: str, members: Mapping[str, tuple[str, ...]]
) -> Iterator[ModelAccess]:
    """Yield the models with rights of their own: the team's models, and models that the model gateway follows."""
    rights = environment.mlops.teams[team].models
    followed = {
        service.model
        for service in followed_services(environment).values()
        if service.canary is not None and (service.canary.team, service.data_class) == (team, data_class)
    }
    for model in dict.fromkeys((*rights, *sorted(followed))):
        access = _access(model, rights.get(model, ModelRights()), team, members)
        if model in followed:
            promote, read = (*access.promote, SERVING_ACCOUNT), (*access.read, SERVING_ACCOUNT)
            access = replace(access, promote=promote, read=read)
        yield access


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
