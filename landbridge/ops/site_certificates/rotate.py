"""Program of the playbook `rotate_site_ca.yml` on the operator's machine: one step of the rotation of the site's CA.

`python -m landbridge.ops.site_certificates.rotate STORE STEP`; STORE: the inventory variable `landbridge_secret_store` as
JSON. Steps: `add` a CA, which clients trust and which does not sign yet; `use` it for certificates; `drop` the former one. A step
that is done already changes nothing. It prints `changed` or `unchanged`; `since` prints the time from which the newest CA exists,
in seconds since 1970.
"""

import json
import sys

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import CertificateError, certificates_in, keys_in, valid_from
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import new_value, store_of
from landbridge.ops.site_certificates.issue import AUTHORITY


def rotated(authority: str, step: str, new: str) -> str:
    """Return the secret after a step. The first key and the first certificate sign; clients trust every certificate.

    Raises CertificateError for a step that does not follow.
    """
    keys, certificates = keys_in(authority), certificates_in(authority)
    state = (len(keys), len(certificates))
    match step, state:
        case "add", (1, 1):
            parts = [*keys, *certificates, *keys_in(new), *certificates_in(new)]
        case "use", (2, 2):
            parts = [keys[1], certificates[1], certificates[0]]
        case "drop", (1, 2):
            parts = [keys[0], certificates[0]]
        case ("add", (2, 2)) | ("use", (1, 2)) | ("drop", (1, 1)):
            parts = [authority]
        case _:
            raise CertificateError(
                f"the step {step} does not follow: {AUTHORITY} has {state[0]} keys and {state[1]} certificates. The steps are "
                "add, use and drop, for a CA without an intermediate CA"
            )
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write the secret of one step into the store."""
    step = arguments[1]
    try:
        store = store_of(json.loads(arguments[0]))
        authority = store.read().get(AUTHORITY)
        if authority is None:
            raise SecretsError(f"{store.place} lacks {AUTHORITY}")
        if step == "since":
            print(int(max(valid_from(certificate) for certificate in certificates_in(authority)).timestamp()))
            return 0
        after = rotated(authority, step, new_value(site_secrets().generated[AUTHORITY]))
        if after != authority:
            store.write({AUTHORITY: after})
    except (CertificateError, SecretsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("changed" if after != authority else "unchanged")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
