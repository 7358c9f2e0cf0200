"""Stand-in of dcgmi and its host engine, for groups and statistics of jobs.

Source: dcgmi(1) of DCGM 4 and outputs in its user guide.
"""

import json
import subprocess
import sys
from pathlib import Path

# State of the host engine; a new engine starts without it, as the real one does.
STATE = Path("/run/lab-dcgm.json")
KNOWN = {
    "group": {"--create": 1, "--add": 1, "--delete": 1},
    "stats": {"--enable": 0, "--group": 1, "--jstart": 1, "--jstop": 1, "--job": 1, "--verbose": 0, "--jremove": 1},
}


def engine():
    """Run as nv-hostengine: replace an earlier engine's state, and wait."""
    import time

    STATE.write_text(json.dumps({"groups": {}, "jobs": {}, "next": 2}))
    while True:
        time.sleep(3600)


def main(words, count):
    """Run dcgmi on a machine with `count` GPUs; return its exit code."""
    if subprocess.run(["pgrep", "--exact", "nv-hostengine"], capture_output=True, check=False).returncode:
        print("Error: unable to establish a connection to the specified host: localhost\n"
              "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.")  # fmt: skip
        return 255
    command, options = read(words)
    engine_state = json.loads(STATE.read_text())
    code = (group if command == "group" else stats)(options, engine_state, count)
    STATE.write_text(json.dumps(engine_state))
    return code


def read(words):
    if not words or words[0] not in KNOWN:
        sys.exit(f"lab: dcgmi {' '.join(words)} is not stood in for")
    known, options, remaining = KNOWN[words[0]], {}, list(words[1:])
    while remaining:
        word = remaining.pop(0)
        if word not in known or (known[word] and not remaining):
            print(f"PARSE ERROR: Argument: {word}\n             Couldn't find match for argument")
            sys.exit(1)
        options[word] = remaining.pop(0) if known[word] else True
    return words[0], options


def group(options, engine_state, count):
    if "--delete" in options:
        if engine_state["groups"].pop(options["--delete"], None) is None:
            return failed(f"Error: Cannot destroy group {options['--delete']}. Return: The Group is not found.")
        print(f"Successfully removed group {options['--delete']}")
        return 0
    gpus = options["--add"].split(",")
    if not all(gpu.isdigit() and int(gpu) < count for gpu in gpus):
        return failed("Error: Unable to add entities to the group. Return: Bad parameter passed to function.")
    number = str(engine_state["next"])
    engine_state["next"] += 1
    engine_state["groups"][number] = gpus
    print(f"Successfully created group \"{options['--create']}\" with a group ID of {number}\n"
          f"Add to group operation successful.")  # fmt: skip
    return 0


def stats(options, engine_state, _count):
    jobs, group_id = engine_state["jobs"], options.get("--group")
    if group_id is not None and group_id not in engine_state["groups"]:
        return failed("Error: The Group is not found.")
    if "--enable" in options:
        print("Successfully started process watches.")
        return 0
    for word, message in (
        ("--jstart", "Successfully started recording stats for"),
        ("--jstop", "Successfully stopped recording stats for"),
    ):
        if word in options:
            name = options[word]
            if (name in jobs) == (word == "--jstart"):
                return failed(f"Error: Unable to {word[3:]} recording job stats. Return: Duplicate key or no data.")
            jobs[name] = (
                {"gpus": engine_state["groups"][group_id], "stopped": False}
                if word == "--jstart"
                else {**jobs[name], "stopped": True}
            )
            print(f"{message} {name}")
            return 0
    name = options.get("--job") or options.get("--jremove")
    if name not in jobs or not jobs[name]["stopped"]:
        return failed("Error: Unable to retrieve job statistics. Return: No data is available.")
    if "--jremove" in options:
        del jobs[name]
        print(f"Successfully removed job {name}")
        return 0
    print(f"Successfully retrieved statistics for job: {name}.")
    for gpu in jobs[name]["gpus"]:
        print(f"+------------------------------------------------------------------------------+\n"
              f"| GPU ID: {gpu:<69}|\n"
              "+====================================+=========================================+\n"
              "|-----  Execution Stats  ------------+-----------------------------------------|\n"
              "| Energy Consumed (Joules)           | 0                                       |")  # fmt: skip
    return 0


def failed(text):
    print(text)
    return 1
