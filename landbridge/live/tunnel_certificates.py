"""Program of the role `site_gateway` on the operator's machine: a gateway's request on standard input, its certificate and the
chain on standard output.

`python -m landbridge.live.tunnel_certificates AUTHORITY REGION NAME DAYS`; AUTHORITY: the ARN of a CA in AWS Private CA.
Source: AWS Private CA API Reference, IssueCertificate and GetCertificate (RequestInProgressException until it is issued);
Site-to-Site VPN User Guide, "Tunnel authentication options": every certificate with the chain of the customer gateway's is
accepted (read 2026-11-26).
"""

import hashlib
import sys
import time
from collections.abc import Callable

from cryptography import x509

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, finding_of
from landbridge.certificates import CertificateError, has_key_of, read_request

#: IAM actions that the program needs.
NEEDS = ("acm-pca:DescribeCertificateAuthority", "acm-pca:IssueCertificate", "acm-pca:GetCertificate")
#: Returns a new client without cached responses.
Connect = Callable[[], AwsClient]
_PAUSE_SECONDS = 1.0
_PATIENCE_SECONDS = 120.0


def issue(connect: Connect, authority: str, request: bytes, name: str, days: int) -> str:
    """Return the certificate of a request and its chain, in PEM. Raises AwsRefusal, CertificateError."""
    token = _token(read_request(request, name))
    described = connect().ask("acm-pca", "describe_certificate_authority", CertificateAuthorityArn=authority)
    facts = described["CertificateAuthority"]
    if facts["Status"] != "ACTIVE":
        raise CertificateError(f"{authority} is {facts['Status']}, and issues no certificate")
    # The algorithm is that of the CA's key, not of the request's.
    family = "RSA" if facts["CertificateAuthorityConfiguration"]["KeyAlgorithm"].startswith("RSA") else "ECDSA"
    issued = connect().ask(
        "acm-pca",
        "issue_certificate",
        CertificateAuthorityArn=authority,
        Csr=request,
        SigningAlgorithm=f"SHA256WITH{family}",
        Validity={"Type": "DAYS", "Value": days},
        # A repeated call within five minutes, after a lost answer, issues no second certificate.
        IdempotencyToken=token,
    )
    certificate, chain = _wait(connect, authority, issued["CertificateArn"])
    if not has_key_of(certificate.encode(), request):
        raise CertificateError(f"{authority} issued a certificate for another key")
    return "\n".join((certificate.strip(), chain.strip(), ""))


def _token(request: x509.CertificateSigningRequest) -> str:
    return hashlib.sha256(request.tbs_certrequest_bytes).hexdigest()[:36]


def _wait(connect: Connect, authority: str, certificate: str) -> tuple[str, str]:
    """Return an issued certificate and its chain."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            answer = connect().ask(
                "acm-pca", "get_certificate", CertificateAuthorityArn=authority, CertificateArn=certificate
            )
            return str(answer["Certificate"]), str(answer.get("CertificateChain", ""))
        except AwsRefusal as refused:
            if refused.code != "RequestInProgressException" or time.monotonic() > end:
                raise
        time.sleep(_PAUSE_SECONDS)


def main(arguments: list[str]) -> int:
    """Print the certificate of a request."""
    authority, region, name, days = arguments
    try:
        sys.stdout.write(issue(lambda: AwsClient(region), authority, sys.stdin.buffer.read(), name, int(days)))
    except AwsRefusal as refused:
        print(finding_of(refused, f"a certificate of {name}"), file=sys.stderr)
        return 1
    except CertificateError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
