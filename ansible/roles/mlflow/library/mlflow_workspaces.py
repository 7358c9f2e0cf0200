#!/usr/bin/python
"""Ansible module for workspaces of an MLflow server with basic authentication, and the roles in them."""

DOCUMENTATION = r"""
module: mlflow_workspaces
short_description: Manage MLflow's workspaces, the roles of their members, and their registered models
description:
  - Creates missing workspaces, roles, registered models and the experiments of the models' files, and sets the permissions and
    the users of the roles. A user that is no longer a member loses every role in the workspace.
  - Never deletes a workspace, a model or an experiment. A workspace that is not in the list has no users.
  - The default workspace is not changed.
options:
  url: {type: str, required: true, description: The server.}
  ca_path: {type: path, description: File of the certificates of the CAs; the system's without it.}
  admin_password: {type: str, required: true, description: Password of the account admin.}
  permission:
    type: str
    default: READ
    description: Permission of a member on experiments, models and prompts of other members, or NO_PERMISSIONS.
  workspaces: {type: list, elements: dict, required: true, description: "Workspaces with name, members and models."}
author: [landbridge]
"""

EXAMPLES = r"""
- mlflow_workspaces:
    url: http://localhost:5000
    admin_password: "{{ admin_password }}"
    workspaces:
      - name: vision
        members: [alice, carol]
        models: [{name: digits, register: [alice], promote: [carol], read: [bob]}]
"""

RETURN = r"""
changes: {type: list, returned: always, description: Changes in words.}
"""

import base64
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request

from ansible.module_utils.basic import AnsibleModule

DEFAULT = "default"
#: Objects of other members that a member may read.
SHARED = ("experiment", "registered_model", "prompt")
#: Name of the role of a workspace's members, and prefixes of the names of the roles that may register, promote and read a model.
MEMBERS, MODEL, PROMOTERS = "landbridge-members", "landbridge-model-", "landbridge-promoters-"
READERS = "landbridge-readers-"
#: Role that MLflow keeps for the permissions of one user. Source: MLflow 3.17.2, server/auth/sqlalchemy_store.py.
OWN_ROLE = re.compile(r"__user_(\d+)__")
#: Experiment with the files of a model's versions, as `landbridge model register` names it.
EXPERIMENT = "models/"
API, ROLES = "/api/2.0/mlflow/", "/api/3.0/mlflow/"


class Refused(Exception):
    """Request that the server refused."""


class Server:
    """MLflow's REST API with the administrator's account."""

    def __init__(self, url, password, context):
        self._url, self._context = url.rstrip("/"), context
        self._login = "Basic " + base64.b64encode(("admin:" + password).encode()).decode()

    def send(self, method, path, values, workspace="", absent=False):
        """Return the body of an answer; None for an absent object, if that is permitted."""
        headers = {"Authorization": self._login, "Content-Type": "application/json"}
        if workspace:
            headers["X-MLFLOW-WORKSPACE"] = workspace
        url, data = self._url + path, None
        if method == "GET":
            url += "?" + urllib.parse.urlencode(values)
        else:
            data = json.dumps(values).encode()
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60, context=self._context) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            if absent and error.code == 404:
                return None
            text = error.read().decode(errors="replace")[:300]
            raise Refused("%s %s: %s %s" % (method, path, error.code, text)) from None


class Reconciliation:
    """Changes from the present workspaces to the wanted ones. With `check` they are listed and not made."""

    def __init__(self, server, permission, check):
        self._server, self._check = server, check
        shared = SHARED if permission != "NO_PERMISSIONS" else ()
        self._member = {("workspace", "*"): "USE", **{(kind, "*"): permission for kind in shared}}
        self._ids, self._users = {}, {}
        self.changes = []

    def run(self, workspaces):
        """Reconcile all workspaces."""
        listed = self._server.send("GET", ROLES + "workspaces", {}).get("workspaces", [])
        present = {each["name"] for each in listed}
        for user in self._server.send("GET", API + "users/list", {})["users"]:
            if user["is_admin"]:
                continue
            self._ids[user["username"]] = str(user["id"])
            for role in user["roles"]:
                self._users.setdefault(role["id"], set()).add(user["username"])
        for workspace in workspaces:
            name = workspace["name"]
            if name not in present:
                self._change("create workspace " + name, "POST", ROLES + "workspaces", {"name": name})
            if name in present or not self._check:
                self._workspace(workspace)
        for name in sorted(present - {each["name"] for each in workspaces} - {DEFAULT}):
            self._workspace({"name": name, "members": [], "models": []})

    def _workspace(self, workspace):
        name, members = workspace["name"], workspace["members"]
        listed = self._server.send("GET", ROLES + "roles/list", {"workspace": name})["roles"]
        roles = {role["name"]: role for role in listed}
        wanted = {MEMBERS: (self._member, members)}
        for model in workspace["models"]:
            wanted.update(self._model(name, model))
        for role, (permissions, users) in wanted.items():
            if role not in roles:
                body = {"workspace": name, "name": role}
                created = self._change(
                    "create role %s in %s" % (role, name), "POST", ROLES + "roles/create", body, name
                )
                roles[role] = created["role"] if created else {"id": None}
            self._permit(name, roles[role], role, permissions)
            self._assign(name, roles[role], role, {user for user in users if user in self._ids})
        for role in sorted(set(roles) - set(wanted)):
            # The role of a member's own experiments and models remains, and is given back to one that returns.
            match = OWN_ROLE.fullmatch(role)
            owners = {user for user in members if match and self._ids.get(user) == match.group(1)}
            self._assign(name, roles[role], role, owners)

    def _model(self, workspace, model):
        """Ensure a model and the experiment of its files; return the roles of users that register, promote and read it."""
        name, path = model["name"], API + "registered-models/"
        if self._server.send("GET", path + "get", {"name": name}, workspace, absent=True) is None:
            self._change(
                "create model %s in %s" % (name, workspace), "POST", path + "create", {"name": name}, workspace
            )
        path, experiment = API + "experiments/", EXPERIMENT + name
        described = self._server.send(
            "GET", path + "get-by-name", {"experiment_name": experiment}, workspace, absent=True
        )
        if described is not None:
            described = described["experiment"]
        else:
            text = "create experiment %s in %s" % (experiment, workspace)
            described = self._change(text, "POST", path + "create", {"name": experiment}, workspace) or {
                "experiment_id": ""
            }
        keys = [("registered_model", name), ("experiment", described["experiment_id"])]
        return {
            MODEL + name: (dict.fromkeys(keys, "EDIT"), model["register"]),
            # Removing an alias from a version needs the permission MANAGE. The app refuses the deletion that it permits too.
            PROMOTERS + name: ({keys[0]: "MANAGE"}, model["promote"]),
            READERS + name: (dict.fromkeys(keys, "READ"), model["read"]),
        }

    def _permit(self, workspace, described, role, wanted):
        """Set the permissions of a role."""
        present = {
            (each["resource_type"], each["resource_pattern"]): each for each in described.get("permissions") or []
        }
        path = ROLES + "roles/permissions/"
        for key, permission in wanted.items():
            text = "permit %s on %s %s to %s in %s" % (permission, *key, role, workspace)
            if key not in present:
                body = {
                    "role_id": described["id"],
                    "resource_type": key[0],
                    "resource_pattern": key[1],
                    "permission": permission,
                }
                self._change(text, "POST", path + "add", body, workspace)
            elif present[key]["permission"] != permission:
                body = {"role_permission_id": present[key]["id"], "permission": permission}
                self._change(text, "PATCH", path + "update", body, workspace)
        for key in sorted(set(present) - set(wanted)):
            text = "remove %s on %s %s from %s in %s" % (present[key]["permission"], *key, role, workspace)
            self._change(text, "DELETE", path + "remove", {"role_permission_id": present[key]["id"]}, workspace)

    def _assign(self, workspace, described, role, wanted):
        """Set the users of a role."""
        present = self._users.get(described["id"], set())
        steps = [("assign", "POST", user) for user in sorted(wanted - present)]
        steps += [("unassign", "DELETE", user) for user in sorted(present - wanted)]
        for step, method, user in steps:
            body = {"username": user, "role_id": described["id"]}
            self._change(
                "%s %s in %s: %s" % (step, role, workspace, user), method, ROLES + "roles/" + step, body, workspace
            )

    def _change(self, text, method, path, values, workspace=""):
        self.changes.append(text)
        return None if self._check else self._server.send(method, path, values, workspace)


def main():
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "ca_path": {"type": "path"},
            "admin_password": {"type": "str", "required": True, "no_log": True},
            "permission": {"type": "str", "default": "READ"},
            "workspaces": {"type": "list", "elements": "dict", "required": True},
        },
        supports_check_mode=True,
    )
    ca_path = module.params["ca_path"]
    context = ssl.create_default_context(cafile=ca_path) if ca_path else None
    server = Server(module.params["url"], module.params["admin_password"], context)
    reconciliation = Reconciliation(server, module.params["permission"], module.check_mode)
    try:
        reconciliation.run(module.params["workspaces"])
    except (Refused, OSError) as error:
        # The server of a new data class does not run yet, or has no workspaces yet.
        if not module.check_mode:
            module.fail_json(msg=str(error), changes=reconciliation.changes)
        reconciliation.changes.append("reconcile all workspaces")
    module.exit_json(changed=bool(reconciliation.changes), changes=reconciliation.changes)


if __name__ == "__main__":
    main()
