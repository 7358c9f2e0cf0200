"""MLflow with the role's app on loopback, with SQLite and its artifacts through it: `python team_server.py FOLDER WHEELS`.

The folder has landbridge.json, as the role templates it. WHEELS is the wheelhouse of the lab, with the packages of
MLflow's authentication. The program prints its URI, and ends with its standard input.
"""

import os
import socket
import sys
import threading
from pathlib import Path

PLUGIN = Path(__file__).parents[3] / "ansible/roles/mlflow/files/plugin"
PASSWORD = "lab-password-of-{}"


def main(folder: str, wheels: str) -> None:
    """Serve until standard input ends."""
    settings = {
        "default_permission": "READ",
        "database_uri": f"sqlite:///{folder}/users.db",
        "admin_username": "admin",
        "admin_password": PASSWORD.format("admin"),
        "authorization_function": "mlflow.server.auth:authenticate_request_basic_auth",
        # The comparison of a password takes most of the time of a request.
        "auth_cache_ttl_seconds": "60",
        "workspace_cache_ttl_seconds": "0",
    }
    Path(folder, "basic_auth.ini").write_text(
        "[mlflow]\n" + "".join(f"{key} = {value}\n" for key, value in settings.items())
    )
    os.environ |= {
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{folder}/mlflow.db",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": "mlflow-artifacts:/",
        "_MLFLOW_SERVER_ARTIFACT_DESTINATION": f"{folder}/artifacts",
        "_MLFLOW_SERVER_SERVE_ARTIFACTS": "true",
        "_MLFLOW_SGI_NAME": "uvicorn",
        "MLFLOW_AUTH_CONFIG_PATH": f"{folder}/basic_auth.ini",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": PASSWORD.format("sessions"),
        "MLFLOW_BASIC_AUTH_FAIL_CLOSED": "true",
        "MLFLOW_ENABLE_WORKSPACES": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "LANDBRIDGE_MLFLOW_SETTINGS": f"{folder}/landbridge.json",
    }
    sys.path[:0] = [str(PLUGIN), *(str(next(Path(wheels).glob(f"{name}-*.whl"))) for name in ("flask_wtf", "wtforms"))]
    import uvicorn
    from landbridge_mlflow import create_app

    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="warning"))
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
