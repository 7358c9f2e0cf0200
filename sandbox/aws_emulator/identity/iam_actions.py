"""IAM actions of requests, and access-denied errors for actions that a test denies."""

from fnmatch import fnmatchcase

from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.request_validation import operation_at

# In REST services method and path give the action. (service, method, start or end of the path) -> action.
_PATHS = (
    ("elasticfilesystem", "GET", "/2015-02-01/file-systems", "DescribeFileSystems"),
    ("elasticfilesystem", "GET", "/2015-02-01/mount-targets", "DescribeMountTargets"),
)
_S3 = {"HEAD": "ListBucket", "DELETE": "DeleteBucket", "GET": "GetObject", "PUT": "PutObject"}
_S3_QUERIES = {
    "tagging": "GetBucketTagging",
    "location": "GetBucketLocation",
    "policy": "GetBucketPolicy",
    "lifecycle": "GetLifecycleConfiguration",
}


def rest_action(service: str, method: str, path: str) -> str | None:
    """Return the action of a REST request's path; None if only the method is known."""
    if service == "resource-groups" and path.count("/") == 1:
        # /get-group-configuration is GetGroupConfiguration; all newer operations follow this pattern.
        return "".join(word.capitalize() for word in path.strip("/").split("-")) if "-" in path else None
    if service == "imagebuilder" and path.count("/") == 1:
        return path.strip("/")
    if service == "savingsplans":
        return operation_at(service, method, path)
    if service == "rolesanywhere":
        # botocore's model has no CreateSession, whose requests are signed with a certificate.
        return "CreateSession" if (method, path) == ("POST", "/sessions") else operation_at(service, method, path)
    for path_service, verb, start, action in _PATHS:
        if service == path_service and method == verb and path.startswith(start):
            return action
    return None


def iam_action(service: str, action: str, query: str) -> str:
    """Return the IAM action of a request, for example `ec2:DescribeSubnets`."""
    if service != "s3" or not action.startswith("s3:"):
        return action if ":" in action else f"{service}:{action}"
    method, key = action.removeprefix("s3:"), query.partition("&")[0].partition("=")[0]
    return f"s3:{_S3_QUERIES.get(key) or _S3.get(method, method)}"


def refusal(service: str, action: str, denied: set[str], json_target: bool) -> CloudError | None:
    """Return the service's access-denied error if `action` matches a denied action (wildcards as in IAM)."""
    if not any(fnmatchcase(action.lower(), pattern.lower()) for pattern in denied):
        return None
    return access_denied(service, "arn:aws:iam::123456789012:user/operator", action, json_target)


def access_denied(service: str, principal: str, action: str, json_target: bool, resource: str = "") -> CloudError:
    """Return the error of a service for a request that IAM denies."""
    on_resource = f" on resource: {resource}" if resource else ""
    message = (
        f"User: {principal} is not authorized to perform: {action}{on_resource} because no identity-based policy "
        f"allows the {action} action"
    )
    if service == "ec2":
        return CloudError("UnauthorizedOperation", f"You are not authorized to perform this operation. {message}", 403)
    if json_target or service in ("resource-groups", "elasticfilesystem", "rolesanywhere", "savingsplans"):
        return CloudError("AccessDeniedException", message, 400 if json_target else 403)
    return CloudError("AccessDenied", message, 403)
