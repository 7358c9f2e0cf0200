"""Registered models that triggers name, read from MLflow with the owner's own account.

The service has no password of MLflow: the process of an owner reads `~/.mlflow/credentials`, so that the owner's rights decide. A
pass reads the present state; an event that MLflow sends is not needed. Source (2026-11-26): MLflow 3.17.2, REST API
(registered-models/get, model-versions/search), tracking/request_auth and utils/workspace_utils.py (name of the header).
"""

import base64
import codecs
import configparser
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from landbridge.models.history import AliasRecord, read_history
from landbridge.models.version_tags import DIGEST_TAG, KEY_DIGITS, PIPELINE_RUN_TAG, PLACEHOLDER_TAG
from landbridge.pipelines.service.config import AccountRegistry
from landbridge.timestamps import parse_iso

_SECONDS = 10
#: Versions of a model that are read, the newest first.
_VERSIONS = 200
_MAX_BYTES = 16 << 20
#: The process of an owner may not be able to read the folder of the interpreter: http.client loads this codec at its first request.
codecs.lookup("idna")


class ModelReadError(Exception):
    """Registry that did not answer, or refused; the message has the reason."""


def read_models(
    home: Path, registries: Mapping[str, AccountRegistry], content: Mapping[str, Any]
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the events of the models that an owner's definitions name, by account. Faults are added to those of the content."""
    events: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for account, models in sorted(_wanted(content["definitions"]).items()):
        registry = registries.get(account)
        if registry is None:
            content["faults"].append(f"the account {account} has no MLflow server, so no model starts a run")
            continue
        for model in sorted(models):
            try:
                events.setdefault(account, {})[model] = list(_events(_Session(registry, home), model))
            except ModelReadError as error:
                content["faults"].append(f"model {model} of account {account}: {error}")
                # Its other models would wait for the same server.
                break
    return events


def _wanted(definitions: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the models of triggers by account. The owner may have changed the files."""
    wanted: dict[str, set[str]] = {}
    for data in definitions.values():
        definition = data.get("definition") if isinstance(data, dict) else None
        if not isinstance(definition, dict) or not isinstance(definition.get("triggers"), list):
            continue
        for trigger in definition["triggers"]:
            if isinstance(trigger, dict) and trigger.get("kind") == "model" and isinstance(trigger.get("model"), str):
                wanted.setdefault(str(definition.get("account")), set()).add(trigger["model"])
    return wanted


def _events(session: "_Session", model: str) -> Iterator[dict[str, Any]]:
    """Yield the complete versions, and the versions with an alias."""
    shown = session.get("registered-models/get", {"name": model})
    if shown is None:
        return
    registered = shown["registered_model"]
    versions = {str(each["version"]): each for each in session.versions(model)}
    complete = {number: each for number, each in versions.items() if _is_complete(each)}
    for number, each in complete.items():
        yield {
            "key": f"{model}:{number}-{_mark(each)}",
            "at": _seconds(each),
            "pipeline_run": _tags(each).get(PIPELINE_RUN_TAG, ""),
        }
    records, _ = read_history(_tags(registered))
    for row in registered.get("aliases", ()):
        alias, number = str(row["alias"]), str(row["version"])
        if number not in complete:
            continue
        move = _move(records, alias, number)
        # MLflow keeps no time of an alias: one that was moved without a record is as old as its version.
        at = parse_iso(move.at) if move is not None else None
        yield {
            "key": f"{model}@{alias}:{number}#{move.number if move is not None else 0}-{_mark(complete[number])}",
            "at": _seconds(complete[number]) if at is None else at,
            "alias": alias,
            "pipeline_run": _tags(complete[number]).get(PIPELINE_RUN_TAG, ""),
        }


def _move(records: tuple[AliasRecord, ...], alias: str, version: str) -> AliasRecord | None:
    """Return the last record of an alias, if it is the present one."""
    last = next((record for record in reversed(records) if record.alias == alias), None)
    return last if last is not None and last.after == version else None


def _is_complete(version: Mapping[str, Any]) -> bool:
    tags = _tags(version)
    return bool(tags.get(DIGEST_TAG)) and PLACEHOLDER_TAG not in tags


def _mark(version: Mapping[str, Any]) -> str:
    """Return the first digits of the digest: a model that is deleted and created again has the same numbers."""
    return re.sub(r"[^0-9a-f]", "", _tags(version)[DIGEST_TAG])[:KEY_DIGITS]


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    return {str(tag["key"]): str(tag.get("value", "")) for tag in row.get("tags", ())}


def _seconds(version: Mapping[str, Any]) -> float:
    return int(version.get("creation_timestamp", 0)) / 1000


class _Session:
    """Calls of a registry with the owner's account."""

    def __init__(self, registry: AccountRegistry, home: Path) -> None:
        self._registry, self._headers = registry, _authorization(home)
        if registry.workspace:
            self._headers["X-MLFLOW-WORKSPACE"] = registry.workspace

    def versions(self, model: str) -> list[dict[str, Any]]:
        """Return the newest versions of a model."""
        quoted = model.replace("'", "")
        query = {"filter": f"name='{quoted}'", "max_results": str(_VERSIONS), "order_by": "creation_timestamp DESC"}
        return list((self.get("model-versions/search", query) or {}).get("model_versions", []))

    def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any] | None:
        """Return an answer; None for an object that does not exist. Raises ModelReadError."""
        url = f"{self._registry.uri.rstrip('/')}/api/2.0/mlflow/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers=self._headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *self._tls())
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                return dict(json.loads(answer.read(_MAX_BYTES)))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise ModelReadError(f"{self._registry.uri}: {error.code} {error.reason}") from None
        except (OSError, ValueError) as error:
            raise ModelReadError(f"{self._registry.uri}: {error}") from None

    def _tls(self) -> Iterator[urllib.request.HTTPSHandler]:
        if self._registry.uri.startswith("https:"):
            authority = self._registry.authority or None
            yield urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority))


def _authorization(home: Path) -> dict[str, str]:
    """Return the header of the owner's account; empty for a registry without accounts."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string((home / ".mlflow" / "credentials").read_text(encoding="utf-8"))
        user = parser.get("mlflow", "mlflow_tracking_username")
        password = parser.get("mlflow", "mlflow_tracking_password")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        # The text of a configparser's error has the line.
        raise ModelReadError(f"~/.mlflow/credentials cannot be read: {type(error).__name__}") from None
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}
