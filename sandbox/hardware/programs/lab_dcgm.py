"""dcgmi and its host engine, for groups and statistics of jobs. Source: dcgmi(1) of DCGM 4 and outputs in its user guide."""

import json
import subprocess
import sys
from pathlib import Path

# State of the host engine: deleted when it ends, as with the real one.
STATE = Path("/run/lab-dcgm.json")
KNOWN = {
    "group": {"--create": 1, "--add": 1, "--delete": 1},
    "stats": {"--enable": 0, "--group": 1, "--jstart": 1, "--jstop": 1, "--job": 1, "--verbose": 0, "--jremove": 1},
}


def engine():
    """Stand-in of nv-hostengine: delete an earlier engine's state, and wait."""
    import time

    STATE.write_text(json.dumps({"groups": {}, "jobs": {}, "next": 2}))
    while True:
        time.sleep(3600)


def main(words, count):
    """dcgmi, on a machine with `count` GPUs."""
    if subprocess.run(["pgrep", "--exact", "nv-hostengine"], capture_output=True, check=False).returncode:
        print("Error: unable to establish a connection to the specified host: localhost\n"
              "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.")  # fmt: skip
        return 255
    command, options = read(words)
    found = json.loads(STATE.read_text())
    code = (group if command == "group" else stats)(options, found, count)
    STATE.write_text(json.dumps(found))
    return code


def read(words):
    if not words or words[0] not in KNOWN:
        sys.exit(f"lab: dcgmi {' '.join(words)} is not stood in for")
    known, options, rest = KNOWN[words[0]], {}, list(words[1:])
    while rest:
        word = rest.pop(0)
        if word not in known or (known[word] and not rest):
            print(f"PARSE ERROR: Argument: {word}\n             Couldn't find match for argument")
            sys.exit(1)
        options[word] = rest.pop(0) if known[word] else True
    return words[0], options


def group(options, found, count):
    if "--delete" in options:
        if found["groups"].pop(options["--delete"], None) is None:
            return failed(f"Error: Cannot destroy group {options['--delete']}. Return: The Group is not found.")
        print(f"Successfully removed group {options['--delete']}")
        return 0
    gpus = options["--add"].split(",")
    if not all(gpu.isdigit() and int(gpu) < count for gpu in gpus):
        return failed("Error: Unable to add entities to the group. Return: Bad parameter passed to function.")
    number = str(found["next"])
    found["next"] += 1
    found["groups"][number] = gpus
    print(f"Successfully created group \"{options['--create']}\" with a group ID of {number}\n"
          f"Add to group operation successful.")  # fmt: skip
    return 0


def stats(options, found, _count):
    jobs, own = found["jobs"], options.get("--group")
    if own is not None and own not in found["groups"]:
        return failed("Error: The Group is not found.")
    if "--enable" in options:
        print("Successfully started process watches.")
        return 0
    for word, said in (
        ("--jstart", "Successfully started recording stats for"),
        ("--jstop", "Successfully stopped recording stats for"),
    ):
        if word in options:
            name = options[word]
            if (name in jobs) == (word == "--jstart"):
                return failed(f"Error: Unable to {word[3:]} recording job stats. Return: Duplicate key or no data.")
            jobs[name] = (
                {"gpus": found["groups"][own], "stopped": False}
                if word == "--jstart"
                else {**jobs[name], "stopped": True}
            )
            print(f"{said} {name}")
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
