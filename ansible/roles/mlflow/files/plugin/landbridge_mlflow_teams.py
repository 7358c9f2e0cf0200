"""Workspaces of teams and rights on their registered models, as checks of a request.

A server with workspaces accepts a request of a user only in a workspace of which the user is a member, or a reader of a model.
MLflow's default workspace is closed, but for pages and questions that name no workspace. The settings decide, whatever roles
are in MLflow's database, so that a user that left a team has no access to runs that this user created there.
MLflow has one permission, EDIT, both for a new version and for an alias of a registered model: who may do which is checked here.
Source: MLflow 3.17.2, server/auth/__init__.py, _authorize_create_version and validate_can_set_model_or_prompt_version_alias;
server/workspace_helpers.py, resolve_workspace_from_header (read 2026-11-26).
"""

import re

HEADER = b"x-mlflow-workspace"
DEFAULT = "default"
#: Paths that need no workspace: pages, the server's state and release, the workspaces that a user has, and the user's account.
OPEN = re.compile(
    r"/|/health|/version|/favicon\.ico|/static-files/(?!.*\.\.).*"
    r"|/(ajax-)?api/[0-9.]+/mlflow/(server-info|workspaces|users/get|users/current|users/current/permissions)"
)


class Workspaces:
    """Workspaces of a server: their users, and the rights on their registered models. None: the server has no workspaces."""

    def __init__(self, entries):
        self._users = None if entries is None else {entry["name"]: _users(entry) for entry in entries}
        self._models = {entry["name"]: {each["name"]: each for each in entry["models"]} for entry in entries or ()}

    def refusal(self, path, headers, users):
        """Return the reason to refuse a request of users, or None. `headers` are pairs of bytes."""
        values = [value for key, value in headers if key.lower() == HEADER]
        if len(values) > 1:
            return "the workspace is repeated"
        if self._users is None:
            return None
        name = "".join(values and [values[0].decode("ascii", "replace").strip()]) or DEFAULT
        for user in users:
            if name == DEFAULT and OPEN.fullmatch(path):
                continue
            if user not in self._users.get(name, ()):
                return self._not_a_member(user, name)
        return None

    def model_refusal(self, workspace, name, right, user):
        """Return the reason to refuse a change of a registered model, or None. An empty right is that of the administrator."""
        rights = self._models.get(workspace, {}).get(name)
        if rights is None or (right and user in rights[right]):
            return None
        if not right:
            return f"{name} is a model of mlops.teams.{workspace}: only the administrator deletes or renames it or its versions"
        users = ", ".join(rights[right]) or "no user"
        return f"{user} may not {right} versions of {name}; mlops.teams.{workspace}.models permits {users}"

    def _not_a_member(self, user, name):
        teams = sorted(workspace for workspace, users in self._users.items() if user in users)
        advice = f"; MLFLOW_WORKSPACE of {user}'s teams: {', '.join(teams)}" if teams else ""
        reason = (
            "the default workspace is closed" if name == DEFAULT else f"{user} is not in the team of workspace {name}"
        )
        return reason + advice


def _users(entry):
    readers = {user for model in entry["models"] for user in model["read"]}
    return frozenset(entry["members"]) | readers


def model_check(workspaces, admin):
    """Return a function for Flask that refuses changes of registered models without the right. It runs after MLflow's checks."""
    from flask import g, request
    from mlflow.exceptions import MlflowException
    from mlflow.protos import databricks_pb2, model_registry_pb2
    from mlflow.server import handlers
    from mlflow.utils import workspace_context

    changes = {
        handlers._create_model_version.__name__: ("register", model_registry_pb2.CreateModelVersion),
        handlers._set_registered_model_alias.__name__: ("promote", model_registry_pb2.SetRegisteredModelAlias),
        handlers._delete_registered_model_alias.__name__: ("promote", model_registry_pb2.DeleteRegisteredModelAlias),
        handlers._transition_stage.__name__: ("promote", model_registry_pb2.TransitionModelVersionStage),
        handlers._delete_model_version.__name__: ("", model_registry_pb2.DeleteModelVersion),
        handlers._delete_registered_model.__name__: ("", model_registry_pb2.DeleteRegisteredModel),
        handlers._rename_registered_model.__name__: ("", model_registry_pb2.RenameRegisteredModel),
    }

    def check():
        if request.endpoint not in changes or g.mlflow_authenticated_user == admin:
            return None
        right, message = changes[request.endpoint]

        @handlers.catch_mlflow_exception
        def refuse():
            name = handlers._get_request_message(message()).name
            workspace = workspace_context.get_request_workspace()
            reason = workspaces.model_refusal(workspace, name, right, g.mlflow_authenticated_user)
            if reason is not None:
                raise MlflowException(f"landbridge: {reason}", error_code=databricks_pb2.PERMISSION_DENIED)

        return refuse()

    return check
