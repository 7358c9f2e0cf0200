"""Program of the rotation playbooks on the operator's machine: new values of secrets as JSON on standard input.

`python -m landbridge.ops.secrets.put STORE`; STORE: the inventory variable `landbridge_secret_store` as JSON. It prints
`changed` or `unchanged`, and no value.
"""

import json
import sys

from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import store_of, values_from_json


def main(arguments: list[str]) -> int:
    """Write the values into the store."""
    try:
        store, values = store_of(json.loads(arguments[0])), values_from_json(sys.stdin.read())
        before = store.read()
        changed = {name: value.rstrip("\n") for name, value in values.items()}
        changed = {name: value for name, value in changed.items() if before.get(name) != value}
        if changed:
            store.write(changed)
    except (SecretsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("changed" if changed else "unchanged")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
