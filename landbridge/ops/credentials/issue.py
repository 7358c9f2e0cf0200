"""Program of the role `roles_anywhere` on the operator's machine: a host's request on standard input, its certificate on
standard output.

`python -m landbridge.ops.credentials.issue FOLDER HOST DAYS`; exit status 3: the request waits to be signed elsewhere.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from landbridge.certificates import CertificateError
from landbridge.ops.credentials.folder import AuthorityFolder

WAITS = 3


def main(arguments: list[str]) -> int:
    """Print the certificate of a request."""
    folder, host, days = AuthorityFolder(Path(arguments[0])), arguments[1], int(arguments[2])
    try:
        certificate = folder.issue(host, sys.stdin.buffer.read(), datetime.now(UTC), days)
    except CertificateError as error:
        print(error, file=sys.stderr)
        return 1
    if certificate is None:
        text = (
            f"the CA's key is not on this machine: sign {folder.path}/requests/{host}.csr with it, run `landbridge "
            "credentials import`, then `landbridge configure` again"
        )
        print(text, file=sys.stderr)
        return WAITS
    sys.stdout.write(certificate.decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
