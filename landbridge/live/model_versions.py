"""Aliases and tags of model versions in an MLflow registry. Source: MLflow's REST API, registered-models/alias, model-versions/set-tag."""

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from landbridge.live.tracked_runs import TIMEOUT_SECONDS, TrackingError

CHAMPION, STAGING = "champion", "staging"


class VersionServer:
    """Registry at a URI, with the name and the password of an account if it requires one."""

    def __init__(self, uri: str, user: str | None, password: str | None, authority: str | None) -> None:
        self._uri = uri.rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if user is not None and password is not None:
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {token}"
        self._tls = ssl.create_default_context(cafile=authority) if uri.startswith("https:") else None

    def version_of(self, model: str, alias: str) -> str | None:
        """Return the version that has an alias; None without one."""
        query = urllib.parse.urlencode({"name": model, "alias": alias})
        answer = self._ask("GET", f"registered-models/alias?{query}", None, absent=True)
        return str(answer["model_version"]["version"]) if answer else None

    def promote(self, model: str, version: str, reason: str) -> None:
        """Make a version the champion, and take the alias `staging` from it."""
        if self.version_of(model, CHAMPION) != version:
            self.tag(model, version, {"landbridge.champion.reason": reason})
            self._ask("POST", "registered-models/alias", {"name": model, "alias": CHAMPION, "version": version})
        self._remove(model, version)

    def withdraw(self, model: str, version: str, reason: str) -> None:
        """Take the alias `staging` from a version."""
        if self.version_of(model, STAGING) == version:
            self.tag(model, version, {"landbridge.withdrawn.reason": reason})
        self._remove(model, version)

    def tag(self, model: str, version: str, tags: Mapping[str, str]) -> None:
        """Set tags of a version."""
        for key, value in tags.items():
            self._ask("POST", "model-versions/set-tag", {"name": model, "version": version, "key": key, "value": value})

    def _remove(self, model: str, version: str) -> None:
        if self.version_of(model, STAGING) == version:
            self._ask("DELETE", "registered-models/alias", {"name": model, "alias": STAGING}, absent=True)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, *, absent: bool = False) -> Any:
        url = f"{self._uri}/api/2.0/mlflow/{path}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data, self._headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=self._tls) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # MLflow answers 404, and before some checks 400, for an alias that no version has.
            if absent and error.code in (400, 404):
                return None
            raise TrackingError(f"{path.partition('?')[0]}: {error.code} {error.reason}") from None
        except (OSError, ValueError) as error:
            raise TrackingError(f"{self._uri}: {error}") from None
