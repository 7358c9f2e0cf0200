#!/usr/bin/python3
"""Periodic dump of Slurm's accounting database: landbridge-slurm-dump KEEP DATABASE, as root.

Writes a compressed dump that only root can read, and removes all but the KEEP newest periodic ones. Only a complete dump has its name.
Source: mariadb-dump(1), --single-transaction: a consistent state of InnoDB tables without locks (read 2026-11-26).
"""

import contextlib
import glob
import gzip
import os
import shutil
import subprocess
import sys
import time

FOLDER = "/var/backups/landbridge-slurm"


def main(keep, database):
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    path = f"{FOLDER}/{database}-periodic-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.sql.gz"
    # One that fails leaves the database its space, and the next replaces one that was killed.
    partial = f"{FOLDER}/{database}-periodic.partial"
    command = ["mariadb-dump", "--single-transaction", "--quick", database]
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            with (
                gzip.GzipFile(fileobj=file, mode="wb") as compressed,
                subprocess.Popen(command, stdout=subprocess.PIPE) as process,
            ):
                shutil.copyfileobj(process.stdout, compressed)
            file.flush()
            os.fsync(file.fileno())
        if process.returncode:
            print(f"mariadb-dump ended with status {process.returncode}", file=sys.stderr)
            return 1
        os.replace(partial, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
    print("dumped to", path)
    # The names end with the time.
    for old in sorted(glob.glob(f"{FOLDER}/{database}-periodic-*.sql.gz"))[: -int(keep)]:
        os.unlink(old)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
