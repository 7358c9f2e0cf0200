"""Aliases and tags of versions in a real MLflow registry: a promotion and a withdrawal, each twice."""

import threading
from collections.abc import Iterator
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from landbridge.live.model_versions import VersionServer
from landbridge.live.tracked_runs import TrackingError


class Quiet(WSGIRequestHandler):
    """Handler of requests without a log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("_MLFLOW_SERVER_FILE_STORE", f"sqlite:///{folder}/mlflow.db")
        patch.setenv("_MLFLOW_SERVER_ARTIFACT_ROOT", str(folder))
        from mlflow.server import app

        with make_server("127.0.0.1", 0, app, handler_class=Quiet) as http:
            thread = threading.Thread(target=http.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{http.server_port}"
            http.shutdown()
            thread.join()


def test_aliases_move_once(uri: str) -> None:
    from mlflow import MlflowClient

    client, server = MlflowClient(tracking_uri=uri), VersionServer(uri, None, None, None)
    client.create_registered_model("digits")
    for _ in range(2):
        client.create_model_version("digits", "s3://models/digits")
    client.set_registered_model_alias("digits", "champion", "1")
    client.set_registered_model_alias("digits", "staging", "2")
    for _ in range(2):
        server.withdraw("digits", "2", "canary: errors")
        assert client.get_registered_model("digits").aliases == {"champion": "1"}
    client.set_registered_model_alias("digits", "staging", "2")
    for _ in range(2):
        server.promote("digits", "2", "canary: passed")
        assert client.get_registered_model("digits").aliases == {"champion": "2"}
    server.tag("digits", "2", {"landbridge.canary.decision": "promote"})
    tags = client.get_model_version("digits", "2").tags
    assert tags["landbridge.canary.decision"] == "promote"
    assert tags["landbridge.champion.reason"] == "canary: passed"
    # An alias of another version is left where it is.
    client.set_registered_model_alias("digits", "staging", "1")
    server.withdraw("digits", "2", "late")
    assert client.get_registered_model("digits").aliases["staging"] == "1"


def test_a_registry_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(TrackingError, match="Connection refused"):
        VersionServer("http://127.0.0.1:9", None, None, None).promote("digits", "2", "")
