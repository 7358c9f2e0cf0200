"""Power-off of a node that must not take jobs; the reason is written to the console and to Slurm."""

import os
import subprocess
import sys
import time
from pathlib import Path


def refuse(errors, report):
    """Power off a node whose image or hardware does not meet the requirements."""
    end_node("landbridge: image: " + "; ".join(f"{lack['check']}: {lack['message']}" for lack in errors), report)


def end_node(reason, report, log_end="", root="/"):
    """Show the reason on the console, set the node down in Slurm and power off. slurmd has not started, so the node gets no job.

    `log_end` goes to the console before the reason: EC2 keeps the console of an instance that has ended.
    """
    try:
        Path(root, "dev/console").write_text(f"\n{log_end}\n{reason}\n" if log_end else f"\n{reason}\n")
    except OSError as error:
        print(f"/dev/console: {error}", file=sys.stderr)
    conf = Path(root, "run/landbridge/slurm.conf")
    conf.parent.mkdir(parents=True, exist_ok=True)
    # The node has no slurm.conf before slurmd has fetched it: what scontrol needs to reach the controllers.
    conf.write_text("".join(f"{line}\n" for line in report["slurm_conf"]))
    update = ["scontrol", "update", f"nodename={os.uname().nodename}", "state=down", f"reason={reason[:400]}"]
    for _ in range(3):
        try:
            if subprocess.run(update, env={**os.environ, "SLURM_CONF": str(conf)}, timeout=60).returncode == 0:
                break
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"scontrol: {error}", file=sys.stderr)
        time.sleep(5)
    if report.get("power_off", True):
        subprocess.run(["systemctl", "--no-block", "poweroff"])
