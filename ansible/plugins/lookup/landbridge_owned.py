"""Lookup plugin: names that a host has from the roles of the site's playbooks."""

from pathlib import Path

from ansible.errors import AnsibleLookupError
from ansible.template import trust_as_template

from ansible.plugins.lookup import LookupBase

DOCUMENTATION = r"""
name: landbridge_owned
short_description: Names that a host has from the roles of the site's playbooks
description:
  - Evaluates the conditions under which the playbooks include roles with the host's variables, and returns the names of these
    roles in the table C(ansible/role_names.yaml).
options:
  _terms:
    description: Folder of the playbooks.
    required: true
  exact:
    description: Names that the plan has for a pattern or a file of the table.
    type: dict
    default: {}
author: [landbridge]
"""

RETURN = r"""
_raw:
  description: >-
    Two dictionaries with the keys files, ends, tables and units: the names of this host, and those of all roles.
  type: list
  elements: dict
"""


class LookupModule(LookupBase):
    """Lookup of names; the conditions of a host are evaluated at once."""

    def run(self, terms, variables=None, **kwargs):
        try:
            from landbridge import yaml_text
            from landbridge.plan.ansible.owned_names import owned_names, wanted_roles
        except ImportError as error:
            raise AnsibleLookupError(
                f"run Ansible from the environment that has landbridge installed: {error}"
            ) from error
        self.set_options(var_options=variables, direct=kwargs)
        folder = Path(terms[0])

        def read(name):
            return yaml_text.load((folder / name).read_text())

        plays = [play for path in sorted(folder.glob("*.yml")) for play in read(path.name)]
        table = yaml_text.load((folder / "../../role_names.yaml").read_text())["roles"]
        roles = self._templar.template(trust_as_template("{{ " + wanted_roles(plays, read, table) + " }}"))
        return [owned_names(table, roles, self.get_option("exact")), owned_names(table, table, {})]
