"""Client tokens: a repeated token with the same parameters gets the first answer, with other parameters an error."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.aws_emulator.server.errors import CloudError


class ClientTokens:
    """Answers by (scope, token). Not locked: callers hold the launch lock, so that a concurrent duplicate waits."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], tuple[str, Any]] = {}

    def once(self, scope: str, token: str | None, parameters: Mapping[str, Any], answer: Callable[[], Any]) -> Any:
        """Return the stored answer of a token; call `answer()` the first time. An exception is not stored."""
        if not token:
            return answer()
        if len(token) > 64 or not token.isascii():
            raise CloudError("InvalidParameterValue", "The client token must be at most 64 ASCII characters.")
        digest = hashlib.sha256(json.dumps(parameters, sort_keys=True, default=str).encode()).hexdigest()
        if (scope, token) in self._answers:
            known_digest, result = self._answers[scope, token]
            if known_digest != digest:
                message = "The client token was used before, for a request with different parameters."
                raise CloudError("IdempotentParameterMismatch", message)
            return result
        result = answer()
        self._answers[scope, token] = (digest, result)
        return result
