"""Check of a machine against the contract of a node image: `image` on a builder, `boot` before slurmd on a node.

Prints one line for each lack, or JSON. Exit status: 0 no error, 1 errors, 2 the expectations cannot be read.
`boot --refuse` writes the errors to the console, sets the node down in Slurm with them as reason, and powers off:
EC2 then terminates the instance. Only Python's standard library: the package also runs over ssh, as one file.
"""

import argparse
import base64
import json
import sys
import time
from pathlib import Path

from node_verify import gpu_checks, host_checks, node_checks
from node_verify.checks import CHECKS, lacks
from node_verify.machine import Machine
from node_verify.refuse import refuse

EXPECTATIONS, POOL = "/etc/landbridge/node-verify.json", "/etc/landbridge/pool.json"
#: Modules whose import registers the checks.
MODULES = (gpu_checks, host_checks, node_checks)


def expectations(data, mode, machine):
    """Return the expectations of the image; at boot the expectations of the node's pool replace equal ones."""
    expected = {**data["image"], **data.get("verify", {})}
    if mode == "boot":
        try:
            settings = json.loads(machine.text(POOL))
            expected |= {"pool": settings.get("pool", ""), **settings.get("verify", {})}
        except (ValueError, AttributeError):
            pass  # the check `pool` reports it
    return expected


def boot_lacks(machine, data, seconds):
    """Check until nothing is missing or the time is over: devices and Fabric Manager appear some time after the boot."""
    end = time.monotonic() + seconds
    while True:
        result = lacks(machine, expectations(data, "boot", machine), "boot")
        if not any(lack["level"] == "error" for lack in result) or time.monotonic() >= end:
            return result
        time.sleep(2)


def main(words):
    parser = argparse.ArgumentParser(description="Check a machine against the contract of a node image.")
    parser.add_argument("mode", choices=["image", "boot"])
    parser.add_argument("--root", default="/", help="folder of the machine's files")
    parser.add_argument("--expectations", default=EXPECTATIONS, help="file, or base64: and the file's content")
    parser.add_argument("--seconds", type=int, default=0, help="boot: time for devices to appear")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--refuse", action="store_true", help="boot: set the node down in Slurm and power off on errors"
    )
    options = parser.parse_args(words)
    try:
        content = (
            base64.b64decode(options.expectations[7:])
            if options.expectations.startswith("base64:")
            else Path(options.expectations).read_bytes()
        )
        data = json.loads(content)
        data["image"]["release"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{options.expectations[:80]}: {error}", file=sys.stderr)
        return 2
    machine = Machine(options.root)
    if options.mode == "boot":
        result = boot_lacks(machine, data, options.seconds)
    else:
        result = lacks(machine, expectations(data, "image", machine), "image")
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        for lack in result:
            print(f"{lack['level']}: {lack['check']}: {lack['message']}; fix: {lack['fix']}")
    errors = [lack for lack in result if lack["level"] == "error"]
    if not options.json:
        print(f"{len(CHECKS)} checks, {len(errors)} errors")
    if errors and options.refuse:
        refuse(errors, data["report"])
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
