"""AWS errors, with the status code and the body of each AWS protocol."""

import json
import uuid
from collections.abc import Mapping
from xml.sax.saxutils import escape

REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}
REASONS |= {409: "Conflict", 412: "Precondition Failed", 503: "Service Unavailable"}
XML = "text/xml;charset=UTF-8"


class CloudError(Exception):
    """Error answer of the emulated AWS. A client stops at 4xx and retries at 5xx, as with the real AWS."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status


def insufficient_capacity(instance_type: str, zone: str) -> CloudError:
    # AWS answers 500 here, so SDKs retry; a 400 would hide these retries.
    message = (
        f"We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested ({zone})."
    )
    return CloudError("InsufficientInstanceCapacity", message, 500)


def throttled(action: str) -> CloudError:
    return CloudError("RequestLimitExceeded", f"Request limit exceeded ({action}).", 503)


def not_implemented(service: str, action: str) -> CloudError:
    return CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {service}:{action}.")


def render(error: CloudError, service: str, target: str) -> tuple[str, Mapping[str, str], bytes]:
    """Return status line, headers and body of `error` in the protocol of `service`; `target`: X-Amz-Target header."""
    status = f"{error.status} {REASONS.get(error.status, 'Error')}"
    code, message, request = escape(error.code), escape(error.message), str(uuid.uuid4())
    if target:
        body = json.dumps({"__type": error.code, "message": error.message})
        return status, {"Content-Type": "application/x-amz-json-1.1", "x-amzn-RequestId": request}, body.encode()
    if service == "ec2":
        text = f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
        return status, {"Content-Type": XML}, f"{text}<RequestID>{request}</RequestID></Response>".encode()
    if service == "s3":
        text = f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{request}</RequestId></Error>"
        return status, {"Content-Type": "application/xml"}, text.encode()
    if service in ("iam", "sts", "sns", "autoscaling", "elasticloadbalancing", "cloudformation", "rds"):
        text = f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
        return status, {"Content-Type": XML}, f"{text}<RequestId>{request}</RequestId></ErrorResponse>".encode()
    body = json.dumps({"message": error.message})
    return status, {"Content-Type": "application/json", "x-amzn-errortype": error.code}, body.encode()
