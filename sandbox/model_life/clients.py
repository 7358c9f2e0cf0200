"""Clients that send digits to the gateway without pause, and their answers with the true labels, which come later."""

import http.client
import itertools
import json
import random
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from landbridge.models.drift.labels import LateLabel, LoggedPrediction
from sandbox.model_life.digits import labelled_rows
from sandbox.model_life.registry import MODEL
from sandbox.model_life.serving import LoopbackServing

_THREADS = 6


@dataclass
class DigitClients:
    """Clients of the service: statuses of all answers (0: no answer), predictions and late labels."""

    serving: LoopbackServing
    statuses: Counter[int] = field(default_factory=Counter)
    predictions: list[LoggedPrediction] = field(default_factory=list)
    labels: list[LateLabel] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def errors(self) -> int:
        """Number of requests that were not answered with status 200."""
        return sum(count for status, count in self.statuses.items() if status != 200)

    def send(self, count: int, *, is_shifted: bool = False) -> None:
        """Send requests with one row each. `is_shifted`: each image is mirrored, which training never saw."""
        rows = iter([next(self._numbers) for _ in range(count)])
        lock = threading.Lock()
        threads = [threading.Thread(target=self._client, args=(rows, lock, is_shifted)) for _ in range(_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def accuracy(self, version: str) -> float:
        """Return the share of a version's predictions that are right."""
        true = {label.request: label.label for label in self.labels}
        right = [each.label == true[each.request] for each in self.predictions if each.version == version]
        return sum(right) / len(right) if right else 0.0

    def _client(self, numbers: Iterator[int], lock: threading.Lock, is_shifted: bool) -> None:
        context = ssl.create_default_context(cafile=str(self.serving.site.authority))
        connection = http.client.HTTPSConnection("localhost", self.serving.port, timeout=30, context=context)
        images, true = labelled_rows()
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            row = random.Random(number).randrange(len(images))
            status, version, label = self._predict(connection, images[row][::-1] if is_shifted else images[row])
            with lock:
                self.statuses[status] += 1
                if status == 200:
                    self.predictions.append(LoggedPrediction(str(number), version, time.time(), label))
                    self.labels.append(LateLabel(str(number), time.time(), str(true[row])))
        connection.close()

    def _predict(self, connection: http.client.HTTPSConnection, row: list[float]) -> tuple[int, str, str]:
        tensor = {"name": "x", "datatype": "FP32", "shape": [1, len(row)], "data": row}
        try:
            connection.request(
                "POST",
                f"/v2/models/{MODEL}/infer",
                json.dumps({"inputs": [tensor]}),
                {"Authorization": f"Bearer {self.serving.token}"},
            )
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return 0, "", ""
        if answer.status != 200:
            return answer.status, "", ""
        data = json.loads(body)["outputs"][0]["data"]
        return 200, answer.headers["Landbridge-Model-Version"], str(data.index(max(data)))
