"""Failures of AWS calls, with the IAM action that the call requires."""

from enum import StrEnum

from landbridge.findings import Finding, Severity


class RefusalKind(StrEnum):
    """Kind of a failure: `denied` is a missing permission; with `credentials` and `network` AWS was not reached; `busy`
    may be retried later.
    """

    DENIED = "denied"
    CREDENTIALS = "credentials"
    NETWORK = "network"
    BUSY = "busy"
    ANSWER = "answer"


# AWS's common error codes, those of EC2 and S3, and those of HEAD requests, whose responses have no body.
_DENIED = {
    "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "ForbiddenException", "AuthorizationError",
    "NotAuthorized", "AccessDeniedFault",
}  # fmt: skip
_CREDENTIALS = {
    "AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "ExpiredToken",
    "ExpiredTokenException", "RequestExpired", "InvalidAccessKeyId", "MissingAuthenticationToken", "IncompleteSignature",
    "InvalidSignatureException", "MissingAuthenticationTokenException",
    # errors of botocore before a request is sent
    "NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError",
    "UnauthorizedSSOTokenError", "SSOTokenLoadError", "ProfileNotFound", "ConfigParseError", "NoAuthTokenError",
}  # fmt: skip
_NETWORK = {
    "EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ConnectionClosedError", "ProxyConnectionError",
    "SSLError", "HTTPClientError", "ConnectionError", "NoRegionError", "InvalidRegionError",
}  # fmt: skip
_BUSY = {
    "RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "ServiceUnavailable",
    "InternalError", "InternalFailure", "InternalServerError", "ServiceException", "Unavailable", "SlowDown",
}  # fmt: skip
_KINDS = {
    **dict.fromkeys(_DENIED, RefusalKind.DENIED),
    **dict.fromkeys(_CREDENTIALS, RefusalKind.CREDENTIALS),
    **dict.fromkeys(_NETWORK, RefusalKind.NETWORK),
    **dict.fromkeys(_BUSY, RefusalKind.BUSY),
}


class AwsRefusal(Exception):
    """Failed AWS call. `action` is its name in an IAM policy, `code` AWS's or botocore's error code."""

    def __init__(self, action: str, code: str, message: str) -> None:
        super().__init__(f"{action}: {code}: {message}")
        self.action, self.code, self.message = action, code, " ".join(message.split())

    @property
    def kind(self) -> RefusalKind:
        """Return the kind of the error code; ANSWER for an unknown code."""
        return _KINDS.get(self.code, RefusalKind.ANSWER)


def finding_of(refused: AwsRefusal, subject: str) -> Finding:
    """Return the finding for a subject that could not be queried: never an error of the environment."""
    match refused.kind:
        case RefusalKind.DENIED:
            message = f"{subject}: not checked, the permission {refused.action} is missing"
            fix = f"grant {refused.action} (`landbridge preflight --permissions` prints the whole policy), or skip this check"
            return Finding("live-not-allowed-to-look", message, fix=fix, severity=Severity.INFO)
        case RefusalKind.CREDENTIALS:
            message = f"AWS rejects the credentials: {refused.code}: {refused.message}"
            return Finding("live-no-answer", message, fix="log in (AWS_PROFILE, aws sso login), and check the region")
        case RefusalKind.NETWORK:
            message = f"AWS does not answer: {refused.code}: {refused.message}"
            fix = "check the network, the proxy and aws.endpoints.operator; checks that need AWS did not run"
            return Finding("live-no-answer", message, fix=fix)
        case RefusalKind.BUSY:
            message = f"{subject}: AWS throttles requests ({refused.code})"
            return Finding("live-not-looked", message, fix="run it again in a minute", severity=Severity.WARNING)
        case _:
            message = f"{subject}: {refused.action} answered {refused.code}: {refused.message}"
            return Finding("live-not-looked", message, severity=Severity.WARNING)
