"""Inventory plugin: hosts, groups and variables from an environment file and its stack's outputs."""

import contextlib
import json
import os
import shlex
from pathlib import Path

from ansible.errors import AnsibleParserError
from ansible.inventory.helpers import get_group_vars
from ansible.utils.vars import combine_vars

from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

DOCUMENTATION = r"""
name: landbridge
short_description: Inventory from a Landbridge environment file
description:
  - Reads an environment file (C(stacks/Pulumi.NAME.yaml)).
  - Variables from AWS exist once the stack has outputs, which C(landbridge up) writes.
  - C(landbridge.plan.ansible.inventory) computes all values; this plugin passes them to Ansible and adds connection
    variables.
  - A file C(NAME.landbridge.yml) beside the environment file adds groups and variables of the site. Either file can be the
    inventory source. Without it the inventory is that of the plan.
extends_documentation_fragment: [constructed]
options:
  plugin:
    description: Name of this plugin, in C(NAME.landbridge.yml).
    type: str
    choices: [landbridge, landbridge.cluster.landbridge]
  outputs:
    description: >-
      File with the stack's outputs, as printed by C(pulumi stack output --json), instead of the one that
      C(landbridge up) wrote.
    env: [{name: LANDBRIDGE_OUTPUTS}]
    type: path
author: [landbridge]
"""

EXAMPLES = r"""
# Beside the environment file Pulumi.prod.yaml this file is prod.landbridge.yml.
plugin: landbridge
groups:
  monitored: "'slurm_node' in group_names"
compose:
  exporter_port: "9400 if 'slurm_node' in group_names else 9100"
keyed_groups:
  - {key: nvidia_driver_branch, prefix: driver}
"""

PREFIX = "Pulumi."
EXTENSION = ".landbridge.yml"


class InventoryModule(BaseInventoryPlugin, Constructable):
    """Inventory from Pulumi.NAME.yaml; errors are the findings that `landbridge check` prints."""

    NAME = "landbridge"

    def verify_file(self, path):
        name = Path(path).name
        is_environment = name.startswith(PREFIX) and name.endswith(".yaml")
        return super().verify_file(path) and (is_environment or name.endswith(EXTENSION))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        path, extension = self._files(Path(path))
        if extension.exists():
            self._read_config_data(str(extension))
        else:
            self.set_options()
        try:
            from landbridge import paths
            from landbridge.environment import load_environment
            from landbridge.plan.ansible.inventory import inventory as planned
            from landbridge.plan.outputs import StackOutputs
        except ImportError as error:
            raise AnsibleParserError(
                f"run Ansible from the environment that has landbridge installed: {error}"
            ) from error
        loaded = load_environment(path)
        if loaded.environment is None:
            raise AnsibleParserError("\n".join(str(finding) for finding in loaded.findings))
        environment = loaded.environment
        source = Path(self.get_option("outputs") or paths.outputs_file(environment.name))
        outputs = StackOutputs.model_validate_json(source.read_text()) if source.exists() else None
        data = planned(environment, outputs)
        self._add_to_inventory(data)
        for name, value in self._connection(environment, paths).items():
            self.inventory.set_variable("all", name, value)
        self.inventory.set_variable("all", "landbridge_environment", environment.name)
        self.inventory.set_variable("all", "landbridge_environment_file", str(path.resolve()))
        folder = paths.secrets_dir(environment.name)
        self.inventory.set_variable("all", "landbridge_secrets", str(folder))
        self.inventory.set_variable("all", "landbridge_secret_store", self._store(environment, folder, path))
        if outputs is not None:
            self.inventory.set_variable("all", "landbridge_outputs", json.loads(json.dumps(outputs.public())))
        self._extend()

    @staticmethod
    def _files(path):
        """Return the environment file and the file that extends it; `path` is either."""
        if path.name.endswith(EXTENSION):
            return path.with_name(f"{PREFIX}{path.name.removesuffix(EXTENSION)}.yaml"), path
        return path, path.with_name(f"{path.name.removeprefix(PREFIX).removesuffix('.yaml')}{EXTENSION}")

    def _extend(self):
        """Add the variables and groups of the extension."""
        strict = self.get_option("strict")
        for host in list(self.inventory.hosts.values()):
            variables = combine_vars(get_group_vars(host.get_groups()), host.get_vars())
            variables["group_names"] = sorted(group.name for group in host.get_groups())
            self._set_composite_vars(self.get_option("compose"), variables, host.name, strict=strict)
            variables = combine_vars(variables, host.get_vars())
            self._add_host_to_composed_groups(self.get_option("groups"), variables, host.name, strict=strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, host.name, strict=strict)

    def _add_to_inventory(self, data):
        for group, content in data.items():
            if group == "_meta":
                continue
            self.inventory.add_group(group)
            for host in content.get("hosts", ()):
                self.inventory.add_host(host, group=group)
            for name, value in content.get("vars", {}).items():
                self.inventory.set_variable(group, name, value)
        for group, content in data.items():
            for child in content.get("children", ()) if group != "_meta" else ():
                self.inventory.add_group(child)
                self.inventory.add_child(group, child)
        for host, variables in data["_meta"]["hostvars"].items():
            for name, value in variables.items():
                self.inventory.set_variable(host, name, value)

    @staticmethod
    def _store(environment, folder, path):
        """Return the store of secrets. It is decrypted here, once: Ansible's processes for tasks inherit the values."""
        from landbridge.ops.secrets.cipher import SecretsError
        from landbridge.ops.secrets.store import describe_store, open_store

        store = open_store(environment.secrets, environment.name, folder, Path(path))
        # An inventory is listed without the password; the lookup of a secret repeats the error.
        with contextlib.suppress(SecretsError):
            if store.shared:
                store.read()
        return describe_store(store)

    @staticmethod
    def _connection(environment, paths):
        from landbridge.plan.network.hosts import service_hosts
        from landbridge.plan.site.ssh_access import connection_id, proxy_command

        access, proxy = service_hosts(environment).access, proxy_command(environment)
        known_hosts = (
            paths.expand(access.known_hosts)
            if access.known_hosts
            else paths.state_dir(environment.name) / "known_hosts"
        )
        options = [
            "-o",
            f"UserKnownHostsFile={known_hosts}",
            "-o",
            "StrictHostKeyChecking=accept-new",
            "-o",
            "LogLevel=ERROR",
        ]
        if proxy:
            options += ["-o", f"ProxyCommand={proxy}"]
        variables = {
            "ansible_user": access.user,
            "ansible_port": access.port,
            "ansible_ssh_common_args": shlex.join(options),
        }
        if "ANSIBLE_SSH_CONTROL_PATH_DIR" not in os.environ:
            variables["ansible_control_path_dir"] = f"~/.ansible/cp/{connection_id(environment)}"
        if access.user != "root":
            variables["ansible_become"] = True
        if access.private_key:
            variables["ansible_ssh_private_key_file"] = str(paths.expand(access.private_key))
        return variables
