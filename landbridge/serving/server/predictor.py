"""Predictor: one model version with its limits, metrics, readiness and drain. Independent of HTTP."""

import json
import time
from dataclasses import dataclass
from threading import BoundedSemaphore, Condition

from landbridge.models.files import VerifiedModel
from landbridge.models.names import MANIFEST_FILE
from landbridge.serving.server.config import ModelServerConfig
from landbridge.serving.server.limits import ClientRates
from landbridge.serving.server.metrics import ServerMetrics
from landbridge.serving.server.observe import (
    confidences,
    feature_bounds,
    feature_values,
    slice_column,
    sliced_bounds,
    sliced_values,
)
from landbridge.serving.server.protocol import InputTensor, RequestRefusal, answer, parse_request
from landbridge.serving.server.session import OnnxModel

#: Answers "not ready" after which the gateway has seen the drain: its health check fails at the second.
_SEEN = 2


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and body of an answer to a prediction; the outputs and the seconds of a prediction that was made."""

    status: int
    body: bytes
    outputs: tuple[InputTensor, ...] = ()
    seconds: float = 0.0


class Predictor:
    """Answers predictions of one model version."""

    def __init__(self, config: ModelServerConfig, model: VerifiedModel) -> None:
        """Load the model. Raises FolderRefusal."""
        self.manifest = model.manifest
        self._model = OnnxModel(model, config.threads)
        self._bounds = feature_bounds(model.manifest.reference)
        self._slices = slice_column(model.manifest.reference, self._bounds)
        sliced = sliced_bounds(self._slices, self._bounds)
        manifest, content = model.manifest, model.digests[MANIFEST_FILE]
        self.metrics = ServerMetrics(config.service, manifest.name, manifest.version, self._bounds, sliced, content)
        self.metrics.ready = True
        self._slots = BoundedSemaphore(config.concurrency)
        self._rates = ClientRates(config.client_rate)
        self._state = Condition()
        self._unready_answers = 0
        self._in_flight = 0

    @property
    def ready(self) -> bool:
        """Return whether new requests are wanted."""
        return self.metrics.ready

    def readiness(self) -> bool:
        """Return whether new requests are wanted, and count the answer: a drain waits until the gateway has asked."""
        if not self.metrics.ready:
            with self._state:
                self._unready_answers += 1
                self._state.notify_all()
        return self.metrics.ready

    def admits(self, client: str) -> bool:
        """Count a request of the client; return whether its rate permits it."""
        with self._state:
            return self._rates.admits(client, time.monotonic())

    def predict(self, body: bytes, *, is_copy: bool = False) -> Reply:
        """Answer a request. While all slots are used it is refused with status 503: the gateway takes another server.

        A copy for the shadow does not count in the distributions: the other server has counted it.
        """
        if not self._slots.acquire(blocking=False):
            return _refusal(503, "all slots are in use")
        try:
            request = parse_request(body, self.manifest.inputs, self.manifest.outputs)
            began = time.perf_counter()
            outputs = self._model.run(request)
            seconds = time.perf_counter() - began
        except RequestRefusal as error:
            return _refusal(400, str(error))
        except Exception as error:  # noqa: BLE001 - the classes of the runtime's errors are not public
            # Its message may contain values of the request.
            return _refusal(500, f"the model failed: {type(error).__name__}")
        finally:
            self._slots.release()
        if not is_copy:
            values = feature_values(request, self._bounds)
            self.metrics.predictions(confidences(outputs), values, sliced_values(request, self._slices, values))
        text = answer(self.manifest.name, self.manifest.version, request.id, outputs)
        return Reply(200, text, tuple(outputs), seconds)

    def enter(self) -> None:
        """Begin a request."""
        with self._state:
            self._in_flight += 1
        self.metrics.enter(1)

    def leave(self) -> None:
        """End a request, after its answer is sent."""
        with self._state:
            self._in_flight -= 1
            self._state.notify_all()
        self.metrics.enter(-1)

    def drain(self, seconds: float) -> None:
        """Report not ready, and wait until the gateway has read that, at most for this time. Requests are still answered."""
        self.metrics.ready = False
        with self._state:
            self._state.wait_for(lambda: self._unready_answers >= _SEEN, timeout=seconds)

    def finish(self, seconds: float) -> bool:
        """Wait until all requests have ended, for at most this time; return whether they have."""
        with self._state:
            return self._state.wait_for(lambda: self._in_flight == 0, timeout=seconds)


def _refusal(status: int, reason: str) -> Reply:
    return Reply(status, json.dumps({"error": reason}).encode())
