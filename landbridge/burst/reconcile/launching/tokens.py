"""ClientToken of a launch: a repeated request, after a crash or a race, is the same launch for EC2."""

import hashlib
import json
from collections.abc import Iterable


def client_token(
    cluster: str, jobs: Iterable[int], occasion: str, nodes: Iterable[str], offering: str = "", attempt: int = 0
) -> str:
    """Return a token that is equal if and only if all arguments are equal; the order of jobs and nodes has no effect.

    `occasion` distinguishes the starts of the jobs (restart counts and start time), `offering` the offerings that are
    tried, `attempt` the attempts at one offering. EC2 allows 64 ASCII characters.
    """
    parts = [cluster, sorted(set(jobs)), occasion, sorted(set(nodes)), offering, attempt]
    return "lb-" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:48]
