"""Periodic dumps of MLflow's databases: landbridge_mlflow_dump.py KEEP DATABASE..., as root.

Writes a dump of each database to the folder of dumps, and removes all but the KEEP newest periodic dumps of it. A dump that
fails leaves the others, and the exit status is 1.
"""

import glob
import os
import subprocess
import sys

from landbridge_mlflow_upgrade import BACKUPS, dump

PERIODIC = "periodic"


def main(keep, *databases):
    failed = 0
    for database in databases:
        try:
            print("dumped to", dump(database, PERIODIC))
        except subprocess.CalledProcessError as error:
            print(f"the dump of {database} ended with status {error.returncode}", file=sys.stderr)
            failed = 1
            continue
        # The names end with the time.
        for path in sorted(glob.glob(f"{BACKUPS}/{database}-{PERIODIC}-*.dump"))[: -int(keep)]:
            os.unlink(path)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
