"""Program of the rotation playbooks on the operator's machine: generate new values of secrets in the site's store.

`python -m landbridge.ops.secrets.renew STORE NAME...`; STORE: the inventory variable `landbridge_secret_store` as JSON. It
prints the names.
"""

import json
import sys

from landbridge.catalog.site_secrets import form_of
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import new_value, store_of


def main(arguments: list[str]) -> int:
    """Write the new values into the store."""
    names = arguments[1:]
    try:
        store = store_of(json.loads(arguments[0]))
        values = {name: new_value(form) for name in names if (form := form_of(name)) is not None}
        if len(values) < len(names):
            raise SecretsError(f"no generated secrets: {', '.join(name for name in names if name not in values)}")
        if store.shared and (missing := [name for name in names if name not in store.read()]):
            raise SecretsError(f"{store.place} lacks {', '.join(missing)}: landbridge secrets init adds them")
        store.write(values)
    except (SecretsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
