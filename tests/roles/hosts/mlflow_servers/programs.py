"""Programs that run on the MLflow host: tables of an older release, and a client that logs steps."""

#: Tables of the release before the installed one, in a new database.
OLD_TABLES = """import sys
from alembic import command
from alembic.script import ScriptDirectory
from mlflow.store.db import utils
from mlflow.store.tracking.dbmodels.initial_models import Base
engine = utils.create_sqlalchemy_engine_with_retry(sys.argv[1])
Base.metadata.create_all(engine)
config = utils._get_alembic_config(sys.argv[1])
old = ScriptDirectory.from_config(config).get_revision(utils._get_latest_schema_revision()).down_revision
with engine.begin() as connection:
    config.attributes["connection"] = connection
    command.upgrade(config, old)
print(old)
"""
#: Logs metrics until the file /tmp/last exists, as a job does.
STEPS = """import mlflow, pathlib, time
mlflow.set_experiment("digits")
with mlflow.start_run():
    step = 0
    while not pathlib.Path("/tmp/last").exists():
        mlflow.log_metric("loss", 1.0, step=step)
        step += 1
        pathlib.Path("/tmp/step").write_text(str(step))
        time.sleep(0.1)
    mlflow.log_metric("loss", 0.5, step=step)
print("finished")
"""
