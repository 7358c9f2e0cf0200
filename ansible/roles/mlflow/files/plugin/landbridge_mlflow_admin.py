"""Password of the administrator of one MLflow server: landbridge_mlflow_admin.py NAME, as root.

MLflow reads `admin_password` of its settings only when it creates the account. This program sets the password of the
settings in the database of users, so that no present password is needed.
"""

import configparser
import os
import sys


def main(name):
    # Otherwise MLflow writes an identifier into root's home, and reports its use to its developers.
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    from mlflow.server.auth import store

    settings = configparser.ConfigParser(interpolation=None)
    settings.read(f"/etc/{name}/basic_auth.ini")
    username, password = settings["mlflow"]["admin_username"], settings["mlflow"]["admin_password"]
    store.init_db(settings["mlflow"]["database_uri"])
    if store.authenticate_user(username, password):
        print("unchanged")
        return
    store.update_user(username, password=password)
    print("changed")


if __name__ == "__main__":
    main(sys.argv[1])
