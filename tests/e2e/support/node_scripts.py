"""Scripts of the sandbox's pool: every node of the tests' cluster runs them at its boot."""

import hashlib
from pathlib import Path
from typing import Any

from sandbox.demo.bring_up import BringUp
from sandbox.demo.full import clients

BUCKET = "sandbox-node-scripts"
START, CONFIGURED = (Path(__file__).parents[1] / "files" / name for name in ("node-start.sh", "node-configured.sh"))
#: The second script fails on nodes that see this file of alice. It is made through NFS: the server caches names.
REFUSAL = "/home/alice/no-licence"
_POOL_LINE = "          image: "


def with_scripts(text: str) -> str:
    """Return an environment file whose only pool has the scripts."""
    before, line, after = text.partition(_POOL_LINE)
    assert line and _POOL_LINE not in after, "the sandbox has one pool"
    return before + _actions() + line + after


def upload(deployment: BringUp) -> None:
    """Upload the scripts into a bucket, as an operator does."""
    s3 = clients(deployment, "s3")
    if BUCKET not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket=BUCKET)
    for script in (START, CONFIGURED):
        put(s3, script, script.read_bytes())


def put(s3: Any, script: Path, content: bytes) -> None:
    """Write the object of a script."""
    s3.put_object(Bucket=BUCKET, Key=script.name, Body=content)


def _actions() -> str:
    def entry(script: Path, argument: str) -> str:
        digest = hashlib.sha256(script.read_bytes()).hexdigest()
        return f'[{{script: "s3://{BUCKET}/{script.name}", sha256: {digest}, arguments: ["{argument}"]}}]\n'

    start, configured = entry(START, "first"), entry(CONFIGURED, REFUSAL)
    return f"          actions:\n            node_start: {start}            node_configured: {configured}"
