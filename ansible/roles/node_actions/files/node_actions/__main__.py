"""Boot program of a cloud node: run the scripts of its pool for one event, `node_start` or `node_configured`.

All scripts of the event are downloaded and compared with their checksums before the first one runs; then they run in
order. A node with a script that fails shows the end of its log on the console, sets itself down in Slurm with the
reason, and powers off: EC2 then terminates the instance. Exit status: 0, or 1 after a failure.
"""

import argparse
import json
import sys
from pathlib import Path

from node_verify.refuse import end_node

from node_actions.scripts import Failed, download, log_end, run

POOL, VERIFY = "etc/landbridge/pool.json", "etc/landbridge/node-verify.json"


def run_event(event, root):
    """Run the scripts of an event. Raises Failed."""
    try:
        pool = json.loads((root / POOL).read_text())
    except FileNotFoundError:
        return  # the check of the node reports it
    except ValueError as error:
        raise Failed(f"/{POOL}: {error}") from None
    scripts = pool.get("actions", {}).get(event, [])
    contents = [download(event, script, pool) for script in scripts]
    for number, (script, content) in enumerate(zip(scripts, contents, strict=True), 1):
        run(event, number, script, content, pool, root)
        print(f"{event} {number} of {len(scripts)}: {script['key']} has ended")


def main(words):
    parser = argparse.ArgumentParser(description="Run the scripts of this node's pool.")
    parser.add_argument("event", choices=["node_start", "node_configured"])
    parser.add_argument("--root", type=Path, default=Path("/"), help="folder of the machine's files")
    options = parser.parse_args(words)
    try:
        run_event(options.event, options.root)
    except Failed as failure:
        reason = f"landbridge: action: {failure}"
        print(reason, file=sys.stderr)
        report = json.loads((options.root / VERIFY).read_text())["report"]
        end_node(reason, report, log_end(failure.log) if failure.log else "", options.root)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
