"""App of an MLflow server for one data class: MLflow's basic authentication, after checks of the class.

`mlflow server --app-name landbridge` runs it. MLflow finds the app by the entry point in the neighbouring dist-info
directory. A request gets a response of MLflow only if
  - its address is in the class's networks (data that must stay on-prem: the site's networks),
  - its user is the administrator or a user of an account of the class, whatever accounts are in MLflow's database,
  - it does not use a function that sends data to other servers, for data that must stay on-prem,
  - its workspace is one of its user's teams (landbridge_mlflow_teams.py), if the server has workspaces.
An experiment of which a client chooses the artifact location is refused: its runs would be stored elsewhere.
MLflow's own option for such checks, authorization_function, gets no address for uploads and downloads of artifacts.
Source: MLflow 3.17.2, server/auth/__init__.py, _authenticate_custom_for_fastapi; MLflow documentation, "Plugins", mlflow.app
(read 2026-11-25).
"""

import base64
import binascii
import fcntl
import ipaddress
import json
import os
import re
from dataclasses import dataclass

from landbridge_mlflow_teams import Workspaces, model_check

SETTINGS = "LANDBRIDGE_MLFLOW_SETTINGS"
ADMIN = "admin"
#: Requests that a worker handles at the same time; the others wait. MLflow has 40 threads, but 15 connections to each database: a request
#: without one gets the status 400, which clients do not repeat. Source: MLflow 3.17.2 and SQLAlchemy, QueuePool; AnyIO, capacity limiter
#: of threads; tried on 2026-11-26 (docs/explanation/speed.md).
THREADS = 12
#: Path of the server's state, which needs no login.
HEALTH = "/health"
#: Paths that make the server send data to other servers: models of other providers, webhooks, the assistant.
OUTGOING = re.compile(r"(/(ajax-)?api/[0-9.]+/mlflow)?/(gateway|webhooks|assistant)", re.IGNORECASE)
#: Headers with credentials. Source: MLflow 3.17.2, server/auth/__init__.py, _authenticate_fastapi_request.
CREDENTIALS = (b"authorization", b"x-mlflow-authorization")


@dataclass(frozen=True)
class Settings:
    """Settings of a server: its data class and users, its clients' networks (none: any), servers of other classes, and the
    workspaces of teams.
    """

    data_class: str
    users: frozenset
    sources: tuple
    others: tuple
    workspaces: Workspaces

    @classmethod
    def read(cls, path):
        """Read the settings from a JSON file."""
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
        return cls(
            values["data_class"],
            frozenset(values["users"]),
            tuple(ipaddress.ip_network(source) for source in values["sources"]),
            tuple(values["others"]),
            Workspaces(values.get("workspaces")),
        )

    def refusal(self, address, path, headers):
        """Return the reason to refuse a request, or None. `headers` are pairs of bytes, names in lower case."""
        if self.sources and not self._is_permitted(address):
            return f"data of class {self.data_class} may not be read or written from {address}"
        if self.sources and OUTGOING.match(path):
            return f"data of class {self.data_class} must stay on-prem: this function sends data to other servers"
        try:
            users = names(headers)
        except ValueError:
            return "the credentials cannot be read"
        for user in users:
            if user != ADMIN and user not in self.users:
                return self._not_a_user(user)
        return self.workspaces.refusal(path, headers, [user for user in users if user != ADMIN])

    def _is_permitted(self, address):
        try:
            client = ipaddress.ip_address(address)
        except ValueError:
            return False
        client = getattr(client, "ipv4_mapped", None) or client
        return client.is_loopback or any(client in network for network in self.sources)

    def _not_a_user(self, user):
        uris = [f"{other['uri']} ({other['data_class']})" for other in self.others if user in other["users"]]
        advice = f"; MLFLOW_TRACKING_URI of {user}'s accounts: {', '.join(uris)}" if uris else ""
        return f"{user} has no account with data of class {self.data_class}{advice}"


def names(headers):
    """Return the user names in the headers with credentials. Raises ValueError for credentials that programs may read in
    different ways: twice, or not as basic authentication in ASCII.
    """
    users = []
    for name in CREDENTIALS:
        values = [value for key, value in headers if key.lower() == name]
        if len(values) > 1:
            raise ValueError("credentials are repeated")
        for value in values:
            scheme, _, encoded = value.decode("ascii").strip().partition(" ")
            if scheme.lower() != "basic":
                raise ValueError("the scheme is not basic")
            try:
                decoded = base64.b64decode(encoded.strip(), validate=True).decode("ascii")
            except binascii.Error:
                raise ValueError("the credentials are not in base 64") from None
            users.append(decoded.partition(":")[0])
    return users


class Guard:
    """ASGI application that refuses requests by the settings, and passes all others to MLflow.

    `query` raises an exception while a database does not answer; MLflow's own HEALTH does not ask them.
    """

    def __init__(self, app, settings, query):
        self._app, self._settings, self._query = app, settings, query

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            from anyio import to_thread

            to_thread.current_default_thread_limiter().total_tokens = THREADS
            await self._app(scope, receive, send)
            return
        address, path = (scope.get("client") or ("", 0))[0], scope.get("path", "")
        reason = self._settings.refusal(address, path, scope["headers"])
        if scope["type"] == "http" and reason is None:
            if path == HEALTH and (error := await self._failure()):
                await _refuse(send, 503, "TEMPORARILY_UNAVAILABLE", error)
            else:
                await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send, 403, "PERMISSION_DENIED", reason)
        else:
            # MLflow has no WebSocket.
            await send({"type": "websocket.close", "code": 1008})

    async def _failure(self):
        """Return why the server cannot work, without the database's message, which may have its address; empty if it can."""
        from anyio import to_thread

        try:
            await to_thread.run_sync(self._query)
        except Exception as error:  # noqa: BLE001 - each failure is an answer of this page
            return f"a database does not answer ({type(error).__name__})"
        return ""


async def _refuse(send, status, code, reason):
    body = json.dumps({"error_code": code, "message": f"landbridge: {reason}"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def query_databases():
    """Query the databases of runs and of users. Raises SQLAlchemy's error if one does not answer."""
    from mlflow.server import auth, handlers

    for engine in (handlers._get_tracking_store().engine, auth.store.engine):
        with engine.connect() as connection:
            connection.exec_driver_sql("select 1")


def refuse_artifact_location():
    """Refuse an experiment of which the client chooses the artifact location. Flask calls it after MLflow's own check of
    the user, before the request is handled.
    """
    from flask import request
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import PERMISSION_DENIED
    from mlflow.protos.service_pb2 import CreateExperiment
    from mlflow.server import handlers

    if request.endpoint != handlers._create_experiment.__name__:
        return None

    @handlers.catch_mlflow_exception
    def check():
        if handlers._get_request_message(CreateExperiment()).artifact_location:
            raise MlflowException(
                "landbridge: artifacts are stored where the data class may be; create the experiment without an artifact location",
                error_code=PERMISSION_DENIED,
            )

    return check()


def create_app():
    """Return MLflow's app with basic authentication, behind the checks."""
    from mlflow.server import app as flask_app
    from mlflow.server import auth

    path = os.environ[SETTINGS]
    settings = Settings.read(path)
    with open(path, encoding="utf-8") as file:
        # One process at a time creates the tables of users and the administrator.
        fcntl.flock(file, fcntl.LOCK_EX)
        app = auth.create_app(flask_app)
    flask_app.before_request(refuse_artifact_location)
    flask_app.before_request(model_check(settings.workspaces, ADMIN))
    return Guard(app, settings, query_databases)
