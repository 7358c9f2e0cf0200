"""WSGI application in front of moto: it counts, delays, throttles and refuses calls, and explains errors."""

import io
import json
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from sandbox.aws_emulator.emulator_state import EmulatorState, InjectedFault
from sandbox.aws_emulator.identity.access_keys import AccessKeys, unknown_key
from sandbox.aws_emulator.identity.authorization import authorize, session_of
from sandbox.aws_emulator.identity.iam_actions import iam_action, refusal, rest_action
from sandbox.aws_emulator.server import control_endpoint as control
from sandbox.aws_emulator.server import services_without_moto as own
from sandbox.aws_emulator.server.errors import CloudError, not_implemented, render, throttled
from sandbox.aws_emulator.storage import object_checksums

Environ = dict[str, Any]
Start = Callable[..., Any]
_SCOPE = re.compile(r"Credential=([^/,\s]+)/\d+/([^/]*)/([^/]*)/aws4_request")
FORM = "application/x-www-form-urlencoded"


class Application:
    """WSGI application of one listening socket: /_ctl from this machine only, AWS calls from any address."""

    def __init__(self, emulator: EmulatorState, keys: AccessKeys) -> None:
        self._emulator, self._keys = emulator, keys
        self._moto = DomainDispatcherApplication(create_backend_app)
        # While moto creates a role or a route table it iterates over all of them; a concurrent call that creates another
        # one would break that.
        self._service_locks: dict[str, threading.Lock] = {}

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/_ctl":
            return self._control(environ, start)
        if environ.get("CONTENT_LENGTH"):
            environ["wsgi.input"] = _Body(environ["wsgi.input"], int(environ["CONTENT_LENGTH"]))
        access_key, service, region = _signer(environ)
        action = _action(environ, service)
        iam_action_name = iam_action(service, action, environ.get("QUERY_STRING", ""))
        self._emulator.calls[action] += 1
        self._emulator.iam_calls[iam_action_name] += 1
        try:
            if path.startswith(("/moto-api", "/latest/")):
                raise CloudError("NotFound", f"Nothing at {path}.", 404)
            if action != "CreateSession":  # signed with a certificate
                self._keys.check(access_key, service, self._emulator.now())
            if region in self._emulator.closed:
                raise unknown_key(service)  # in a region without opt-in no key of the account is valid
            if session := session_of(access_key, self._keys.instance_sessions, region):
                authorize(session, service, action, region, environ)
            if service == "s3":
                object_checksums.check_upload(environ)
            if self._emulator.latency:
                time.sleep(self._emulator.latency)
            bucket = self._emulator.buckets.get(action)
            if bucket and not bucket.take():
                raise throttled(action)
            if refused := refusal(
                service, iam_action_name, self._emulator.denied, bool(environ.get("HTTP_X_AMZ_TARGET"))
            ):
                raise refused
            if self._emulator.lag.reads and (unseen := self._emulator.lag.refusal(service, action, _form(environ))):
                raise unseen
            fault = self._emulator.take_fault(action)
            return (
                self._call_moto(environ, start, service, action)
                if fault is None
                else self._fail(fault, environ, start, service, action)
            )
        except CloudError as error:
            self._emulator.errors[error.code] += 1
            status, headers, text = render(error, service, environ.get("HTTP_X_AMZ_TARGET", ""))
            _discard_body(environ)
            start(status, [*headers.items(), ("Content-Length", str(len(text)))])
            return [text]

    def _fail(self, fault: InjectedFault, environ: Environ, start: Start, service: str, action: str) -> Iterable[bytes]:
        without_answer = bool(fault.code) or fault.cut
        if without_answer and fault.after:
            self._call_moto(environ, lambda *_: None, service, action)
        body = self._call_moto(environ, start, service, action) if fault.after and not without_answer else None
        self._emulator.held.hold(action, fault.hold)
        if fault.cut:
            raise ConnectionResetError(f"{action} is cut off")  # the server closes the connection without an answer
        if fault.code:
            raise fault.error()
        return self._call_moto(environ, start, service, action) if body is None else body

    def _call_moto(self, environ: Environ, start: Start, service: str, action: str) -> Iterable[bytes]:
        with self._emulator.busy:
            return self._answer(environ, start, service, action)

    def _answer(self, environ: Environ, start: Start, service: str, action: str) -> Iterable[bytes]:
        own_answer = own.answer(self._emulator, _signer(environ)[2], service, action, environ)
        if own_answer is not None:
            status, content_type, own_body = own_answer
            start(status, [("Content-Type", content_type), ("Content-Length", str(len(own_body)))])
            return [own_body]
        answer: dict[str, Any] = {}
        form = _form(environ) if self._emulator.lag.reads and service in ("ec2", "iam") else None

        def capture(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            answer.update(status=status, headers=headers)

        try:
            self._moto.get_application(environ)
        except AttributeError as error:  # moto does not have this service
            raise not_implemented(service, action) from error
        try:
            with self._service_locks.setdefault(service, threading.Lock()):
                body = self._moto(environ, capture)
        except NotImplementedError as error:
            print(f"not implemented: {service}:{action}: {error}", file=sys.stderr, flush=True)
            raise not_implemented(service, action) from error
        except CloudError:
            raise
        except Exception as error:  # a defect of moto: a 500 would make every SDK retry
            traceback.print_exc()
            message = f"The emulated AWS failed in {service}:{action}: {type(error).__name__}: {error}"
            raise CloudError("SandboxFailure", message) from error
        content_type = next((value for name, value in answer["headers"] if name.lower() == "content-type"), "")
        if answer["status"][:1] in "45" and content_type.startswith("text/html") and service not in ("s3", "ec2"):
            raise not_implemented(service, action)  # an HTML page: moto does not have this operation
        if form is None or answer["status"][:1] != "2":
            start(answer["status"], answer["headers"])
            return body
        visible_body = self._emulator.lag.answered(service, action, form, b"".join(body))
        headers = [(name, value) for name, value in answer["headers"] if name.lower() != "content-length"]
        start(answer["status"], [*headers, ("Content-Length", str(len(visible_body)))])
        return [visible_body]

    def _control(self, environ: Environ, start: Start) -> Iterable[bytes]:
        status, result = "200 OK", {}
        if not environ.get("REMOTE_ADDR", "").startswith("127."):
            status, result = "403 Forbidden", {"error": "only this machine may use the control endpoint"}
        elif environ["REQUEST_METHOD"] == "POST":
            try:
                text = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                result = control.change(self._emulator, json.loads(text or b"{}"))
            except (ValueError, TypeError) as error:
                status, result = "400 Bad Request", {"error": str(error)}
        else:
            result = control.read(self._emulator)
        body = json.dumps(result).encode()
        start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]


def _signer(environ: Environ) -> tuple[str | None, str, str]:
    """Return access key id, service and region of a request, from its header or, if presigned, its query."""
    query = parse_qs(environ.get("QUERY_STRING", ""))
    presigned = "Credential=" + query["X-Amz-Credential"][0] if "X-Amz-Credential" in query else ""
    match = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", "")) or _SCOPE.search(presigned)
    return (match[1], match[3], match[2]) if match else (None, "s3", "")


def _action(environ: Environ, service: str) -> str:
    """Return the API action. In REST services it follows from the path, in S3 and others from the method."""
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    if target:
        return str(target).rpartition(".")[2]
    if str(environ.get("CONTENT_TYPE", "")).startswith(FORM) and environ.get("CONTENT_LENGTH"):
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = io.BytesIO(body)
        match = re.search(rb"(?:^|&)Action=(\w+)", body)
        if match:
            return match[1].decode()
    method = environ["REQUEST_METHOD"]
    return rest_action(service, method, environ.get("PATH_INFO", "")) or f"{service}:{method}"


def _form(environ: Environ) -> str:
    """Return the text of a form body; the body can still be read afterwards."""
    body = environ["wsgi.input"]
    return unquote_plus(body.getvalue().decode()) if isinstance(body, io.BytesIO) else ""


class _Body:
    """Request body that counts its unread bytes: a read beyond the end would block forever."""

    def __init__(self, stream: Any, length: int) -> None:
        self._stream, self._unread = stream, length

    def read(self, size: int = -1) -> bytes:
        return self._take(self._stream.read, size)

    def readline(self, size: int = -1) -> bytes:
        return self._take(self._stream.readline, size)

    def _take(self, read: Callable[[int], bytes], size: int) -> bytes:
        count = self._unread if size is None or size < 0 else min(size, self._unread)
        chunk = read(count) if count else b""
        self._unread -= len(chunk)
        return chunk


def _discard_body(environ: Environ) -> None:
    """Read the rest of the request body: some clients read no answer before they have sent the whole request."""
    body = environ["wsgi.input"]
    while isinstance(body, _Body) and body.read(65_536):
        pass
