"""Pass of the services that follow the registry: each asks the registry in the workspace of its team."""

import json
from pathlib import Path

import pytest

from landbridge.live.models.registry import ModelRegistry, RegistryError
from landbridge.serving.follow.config import load_follow_config
from landbridge.serving.follow.passes import FollowPass


def test_each_service_asks_the_registry_in_its_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow.utils.workspace_context import get_request_workspace

    monkeypatch.delenv("MLFLOW_WORKSPACE", raising=False)
    service = {"model": "digits", "backend": "model-digits", "hosts": [], "servers": [], "p95_ms": 1, "canary": {}}
    services = [
        {**service, "name": name, "registry": f"http://{name}", **({"workspace": name} if name != "plain" else {})}
        for name in ("pictures", "plain", "ward")
    ]
    places = {name: str(tmp_path / name) for name in ("trust", "socket", "state_file", "export", "orders")}
    file = tmp_path / "follow.json"
    file.write_text(json.dumps({"services": services, "account": "", "state": str(tmp_path), **places}))
    calls: list[tuple[str, str | None]] = []

    def connect(uri: str) -> ModelRegistry:
        calls.append((uri, get_request_workspace()))
        raise RegistryError("no answer")

    FollowPass(load_follow_config(file), connect, lambda: 1000.0, lambda line: None).run()
    assert calls == [("http://pictures", "pictures"), ("http://plain", None), ("http://ward", "ward")]
    assert get_request_workspace() is None
