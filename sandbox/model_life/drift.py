"""Drift of the demonstration: `landbridge model drift` on two windows of the model server's metrics."""

import json
import ssl
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from sandbox.demo.report import DemoError
from sandbox.demo.work import program
from sandbox.model_life.clients import DigitClients

_REQUESTS = 600


def window(clients: DigitClients, slot: str, model: Path, name: str, *, is_shifted: bool) -> dict[str, Any] | None:
    """Send requests, judge them, and return the trigger of a retraining; None without drift."""
    folder = clients.serving.folder
    before, after, trigger = (folder / f"{name}-{part}" for part in ("before.prom", "after.prom", "trigger.json"))
    _save(clients, slot, before)
    errors = clients.errors
    clients.send(_REQUESTS, is_shifted=is_shifted)
    if clients.errors > errors:
        raise DemoError(f"{clients.errors - errors} of {_REQUESTS} requests got an error: {dict(clients.statuses)}")
    _save(clients, slot, after)
    words = [program("landbridge"), "model", "drift", str(model / "model.json"), "--before", str(before)]
    words += ["--metrics", str(after), "--trigger", str(trigger)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in (0, 1):
        raise DemoError(f"landbridge model drift: {done.stderr[-500:]}")
    return dict(json.loads(trigger.read_text())) if trigger.exists() else None


def _save(clients: DigitClients, slot: str, path: Path) -> None:
    context = ssl.create_default_context(cafile=str(clients.serving.site.authority))
    with urllib.request.urlopen(clients.serving.url(slot), timeout=10, context=context) as answer:
        path.write_bytes(answer.read())
