"""Upgrade of the databases of one MLflow server to the installed release: landbridge_mlflow_upgrade.py NAME, as root.

Prints "unchanged" if this release has checked the databases before. Otherwise it stops the server if a database has the tables of
an older release, writes a dump of each such database to BACKUPS, and migrates them. Tables of a newer release are refused:
restore the dump that was written before the upgrade.
Source: MLflow documentation, "mlflow db upgrade": take a backup of the database before (read 2026-11-25).
"""

import configparser
import contextlib
import os
import subprocess
import sys
import time

BACKUPS = "/var/backups/landbridge-mlflow"


def main(name):
    release = os.path.realpath(sys.prefix)
    marker = f"/etc/{name}/release"
    try:
        with open(marker, encoding="utf-8") as file:
            if file.read().strip() == release:
                print("unchanged")
                return
    except FileNotFoundError:
        pass
    # Otherwise MLflow writes an identifier into root's home, and reports its use to its developers.
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    # MLflow writes warnings and progress to standard error.
    tracking_url, users_url = urls(name)
    outdated = [step for step in (tracking(tracking_url), users(users_url)) if step is not None]
    if outdated:
        subprocess.run(["systemctl", "stop", name], check=True)
        for url, revision, _ in outdated:
            print("dumped to", dump(url.rpartition("/")[2], revision))
        for _, _, upgrade in outdated:
            upgrade()
    with open(marker, "w", encoding="utf-8") as file:
        file.write(release + "\n")
    print(f"checked: {len(outdated)} databases upgraded")


def urls(name):
    """Return the URLs of the server's databases from its settings."""
    with open(f"/etc/{name}/environment", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").partition("=") for line in file]
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(f"/etc/{name}/basic_auth.ini")
    backend = next(value for key, _, value in pairs if key == "MLFLOW_BACKEND_STORE_URI")
    return backend, settings["mlflow"]["database_uri"]


def tracking(url):
    """Return the URL, the revision and the upgrade of the database of runs; None if it is empty or current."""
    from mlflow.store.db import utils

    engine = utils.create_sqlalchemy_engine_with_retry(url)
    revision = utils._get_schema_version(engine)
    if revision in (None, utils._get_latest_schema_revision()):
        return None
    refuse_newer(utils._get_alembic_config(url), url, revision)
    return url, revision, lambda: utils._upgrade_db(engine)


def users(url):
    """Return the same for the database of users."""
    import sqlalchemy
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from mlflow.server.auth.db import utils

    engine = sqlalchemy.create_engine(url)
    config = utils._get_alembic_config(url)
    with engine.connect() as connection:
        options = {"version_table": "alembic_version_auth"}
        revision = MigrationContext.configure(connection, opts=options).get_current_revision()
    if revision in (None, ScriptDirectory.from_config(config).get_current_head()):
        return None
    refuse_newer(config, url, revision)
    return url, revision, lambda: utils.migrate(engine, "head")


def refuse_newer(config, url, revision):
    """End the program if the installed release does not know the revision of a database's tables."""
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    try:
        ScriptDirectory.from_config(config).get_revision(revision)
    except CommandError:
        database = url.rpartition("/")[2]
        sys.exit(
            f"{database} has the tables of a newer release ({revision}). To go back to this release, restore the dump of "
            f"{database} in {BACKUPS} from before the upgrade with playbooks/restore_databases.yml, and run the role again"
        )


def dump(database, revision):
    """Write a dump of a database that only root can read, and read it to its end; return its path. Raises CalledProcessError."""
    os.makedirs(BACKUPS, mode=0o700, exist_ok=True)
    path = f"{BACKUPS}/{database}-{revision}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.dump"
    # Only a complete dump has its name. One that fails leaves the databases their space, and the next replaces one that was killed.
    partial, postgres = f"{BACKUPS}/{database}-{revision}.partial", ["runuser", "--user", "postgres", "--"]
    try:
        with open(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "r+b") as file:
            subprocess.run([*postgres, "pg_dump", "--format=custom", database], stdout=file, check=True, cwd="/")
            os.fsync(file.fileno())
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            read = [*postgres, "pg_restore", "--file=/dev/null"]
            subprocess.run(read, stdin=file, stdout=subprocess.DEVNULL, check=True, cwd="/")
        os.replace(partial, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
    return path


if __name__ == "__main__":
    main(sys.argv[1])
