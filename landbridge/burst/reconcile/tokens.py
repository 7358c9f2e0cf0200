"""ClientToken: the same launch asked for twice, by whatever crash or race, is one launch."""

import hashlib
import json
from collections.abc import Iterable


def client_token(
    cluster: str, jobs: Iterable[int], occasion: str, nodes: Iterable[str], offering: str = "", attempt: int = 0
) -> str:
    """A token that is the same exactly when everything given is the same; the order of jobs and nodes does not matter.

    `occasion` tells one start of the jobs from the next (restart counts and start time), `offering` one offering tried from the
    next, `attempt` one try there from the next. EC2 allows 64 ASCII characters.
    """
    parts = [cluster, sorted(set(jobs)), occasion, sorted(set(nodes)), offering, attempt]
    return "lb-" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:48]
