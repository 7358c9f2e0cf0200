"""Lookup plugin: secrets of the site, from the store of the environment file."""

from pathlib import Path

from ansible.errors import AnsibleLookupError

from ansible.plugins.lookup import LookupBase

DOCUMENTATION = r"""
name: landbridge_secret
short_description: Secret of a Landbridge site
description:
  - Returns secrets by name from the store of the variable C(landbridge_secret_store), which the inventory plugin sets;
    without it, from the folder C(landbridge_secrets).
  - A folder of one operator gets a missing secret that Landbridge generates. From a store of several operators a
    missing secret is an error.
  - The names and forms of secrets are in C(landbridge/catalog/site_secrets.yaml).
options:
  _terms:
    description: Names of secrets.
    required: true
  form:
    description: Name of the form in the catalogue, if it is not the secret's name, such as mlflow-user for mlflow-user-bob.
    type: str
  optional:
    description: Whether a missing secret is an empty text.
    type: bool
    default: false
author: [landbridge]
"""

RETURN = r"""
_raw:
  description: Values. Tasks that use them need C(no_log).
  type: list
  elements: str
"""


class LookupModule(LookupBase):
    """Lookup of secrets; a message contains names only."""

    def run(self, terms, variables=None, **kwargs):
        try:
            from landbridge.catalog.site_secrets import site_secrets
            from landbridge.ops.secrets.cipher import SecretsError
            from landbridge.ops.secrets.store import LocalFolder, store_of
        except ImportError as error:
            raise AnsibleLookupError(
                f"run Ansible from the environment that has landbridge installed: {error}"
            ) from error
        self.set_options(var_options=variables, direct=kwargs)
        description = self._templar.template((variables or {}).get("landbridge_secret_store"))
        if description:
            store = store_of(description)
        else:
            store = LocalFolder(Path(self._templar.template(variables["landbridge_secrets"])))
        try:
            values = store.read()
            secret_values = []
            for name in terms:
                if name in values:
                    secret_values.append(values[name])
                elif self.get_option("optional"):
                    secret_values.append("")
                elif store.shared:
                    environment = (variables or {}).get("landbridge_environment", "ENV")
                    raise SecretsError(
                        f"the secret {name} is not in {store.place}: landbridge secrets init -s {environment} adds it"
                    )
                else:
                    secret_values.append(
                        store.generate(name, site_secrets().generated[self.get_option("form") or name])
                    )
        except SecretsError as error:
            raise AnsibleLookupError(str(error)) from None
        return secret_values
