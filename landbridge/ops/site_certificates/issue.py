"""Program of the role `site_tls` on the operator's machine: a host's request on standard input, its certificate and the
chain on standard output.

`python -m landbridge.ops.site_certificates.issue STORE HOST DAYS NAME...`; STORE: the inventory variable
`landbridge_secret_store` as JSON. The CA's key is read from the store, and stays in this process.
"""

import json
import sys
from datetime import UTC, datetime

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import CertificateError, chain_of, keys_in, sign
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import LocalFolder, store_of

#: Secret with private key and certificate of the CA.
AUTHORITY = "site-ca"


def main(arguments: list[str]) -> int:
    """Print the certificate of a request."""
    host, days, names = arguments[1], int(arguments[2]), arguments[3:]
    try:
        store = store_of(json.loads(arguments[0]))
        if isinstance(store, LocalFolder):
            authority = store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        elif (stored := store.read().get(AUTHORITY)) is not None:
            authority = stored
        else:
            raise SecretsError(f"{store.place} lacks {AUTHORITY}: landbridge secrets init adds it")
        key = next(iter(keys_in(authority)), "")
        certificate = sign(
            sys.stdin.buffer.read(), host, authority.encode(), key.encode(), datetime.now(UTC), days, names
        )
    except (CertificateError, SecretsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.write(certificate.decode() + chain_of(authority))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
