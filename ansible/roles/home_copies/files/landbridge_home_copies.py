#!/usr/bin/python3
"""Copies of the home directories in a restic repository: landbridge-home-copies copy | restore [SNAPSHOT], as root.

`copy` creates the repository if there is none, adds a snapshot, and removes old ones; an interrupted one is repeated by the next, which reads
what arrived. `restore` makes the folder equal to a snapshot, and can be repeated. Source: restic 0.18, "Backing up" (exit status 3: some files
could not be read), "Restoring from backup" (SNAPSHOT:PATH, --delete), "Preparing a new repository" (exit status 10: no repository) (read
2026-11-26).
"""

import configparser
import json
import os
import shlex
import subprocess
import sys
import time

SETTINGS = os.environ.get("LANDBRIDGE_HOME_COPIES", "/etc/landbridge/home-copies.json")
PASSWORD = os.environ.get("LANDBRIDGE_HOME_COPIES_PASSWORD", "/etc/landbridge/home-copies-password")
STATE = "/var/lib/landbridge/home-copies"
TAG = "landbridge-homes"
NO_REPOSITORY, UNREADABLE_FILES = 10, 3


def credentials(path, name):
    """Return the environment variables with AWS credentials of a file: its keys, or its credential_process' answer."""
    parser = configparser.ConfigParser(default_section=None)
    with open(path) as file:
        parser.read_file(file)
    # A file of credentials has [NAME], a configuration file [profile NAME].
    profile = parser[name] if name in parser else parser[f"profile {name}"]
    if "credential_process" not in profile:
        keys = {"AccessKeyId": profile["aws_access_key_id"], "SecretAccessKey": profile["aws_secret_access_key"]}
        keys["SessionToken"] = profile.get("aws_session_token", "")
    else:
        done = subprocess.run(shlex.split(profile["credential_process"]), stdout=subprocess.PIPE, check=True)
        keys = json.loads(done.stdout)
    values = {"AWS_ACCESS_KEY_ID": keys["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"]}
    return {**values, **({"AWS_SESSION_TOKEN": keys["SessionToken"]} if keys.get("SessionToken") else {})}


def environment(settings):
    """Return the environment of restic. Credentials of the caller have precedence over the file's."""
    values = {**os.environ, "RESTIC_REPOSITORY": settings["repository"], "RESTIC_PASSWORD_FILE": PASSWORD}
    values.setdefault("RESTIC_CACHE_DIR", "/var/cache/landbridge-home-copies")
    if settings.get("region"):
        values.setdefault("AWS_DEFAULT_REGION", settings["region"])
    if settings.get("credentials_file") and "AWS_ACCESS_KEY_ID" not in os.environ:
        values.update(credentials(settings["credentials_file"], settings["profile"]))
    return values


def restic(settings, *words, accept=()):
    """Run restic and return its output and status. Any status but 0 and those accepted ends the program."""
    command = ["restic", "--quiet", *words]
    done = subprocess.run(command, env=environment(settings), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, *accept):
        sys.exit(f"restic {words[0]} ended with status {done.returncode}")
    return done.stdout, done.returncode


def copy(settings):
    """Add a snapshot of the folder. Return 1 if files could not be read."""
    folder, start = settings["folder"], time.time()
    # An empty folder is one that is not mounted: its snapshot would be the newest one.
    if not os.path.isdir(folder) or not os.listdir(folder):
        print(f"{folder} is empty: it may not be mounted", file=sys.stderr)
        return 1
    if restic(settings, "cat", "config", accept=(NO_REPOSITORY,))[1] == NO_REPOSITORY:
        restic(settings, "init")
    # A lock of a killed run on this host.
    restic(settings, "unlock")
    output, status = restic(
        settings,
        "backup",
        "--json",
        "--one-file-system",
        "--exclude-caches",
        "--host",
        "homes",
        "--tag",
        TAG,
        folder,
        accept=(UNREADABLE_FILES,),
    )
    summary = json.loads(output.strip().splitlines()[-1])
    if settings["prune"]:
        keep = ("--keep-hourly", str(settings["keep_hours"]), "--keep-daily", str(settings["keep_days"]))
        restic(settings, "forget", "--host", "homes", "--tag", TAG, "--group-by", "host,tags", *keep, "--prune")
    record = {
        "snapshot": summary["snapshot_id"],
        "files": summary["total_files_processed"],
        "bytes": summary["total_bytes_processed"],
        "added_bytes": summary["data_added"],
        # Changes after the start may be missing.
        "point": round(start),
        "seconds": round(time.time() - start, 1),
        "unreadable": status == UNREADABLE_FILES,
    }
    os.makedirs(STATE, exist_ok=True)
    with open(f"{STATE}/.last.json", "w") as file:
        file.write(json.dumps(record) + "\n")
    os.replace(f"{STATE}/.last.json", f"{STATE}/last.json")
    print(json.dumps(record))
    return 1 if status == UNREADABLE_FILES else 0


def restore(settings, snapshot):
    """Make the folder equal to a snapshot, with owners and modes. The snapshot's folder may have another path."""
    shown = json.loads(
        restic(
            settings,
            "snapshots",
            "--json",
            "--host",
            "homes",
            "--tag",
            TAG,
            *([] if snapshot == "latest" else [snapshot]),
        )[0]
    )
    if not shown:
        sys.exit(f"{settings['repository']} has no copy of homes")
    chosen = max(shown, key=lambda each: each["time"])
    start = time.time()
    os.makedirs(settings["folder"], exist_ok=True)
    restic(settings, "restore", f"{chosen['id']}:{chosen['paths'][0]}", "--target", settings["folder"], "--delete")
    print(json.dumps({"snapshot": chosen["id"], "of": chosen["time"], "seconds": round(time.time() - start, 1)}))
    return 0


def main(arguments):
    """Run one command."""
    with open(SETTINGS) as file:
        settings = json.load(file)
    if arguments[:1] == ["copy"]:
        return copy(settings)
    if arguments[:1] == ["restore"]:
        return restore(settings, (arguments[1:] or ["latest"])[0])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
