# shellcheck shell=sh
# Installed by Ansible (role mlflow). sbatch sends the variables of a session with its job: nodes in AWS do not mount the
# homes, so ~/.mlflow/credentials is not there.
if [ -r "$HOME/.mlflow/credentials" ] && [ -z "${MLFLOW_TRACKING_PASSWORD:-}" ]; then
  MLFLOW_TRACKING_USERNAME=$(sed -n 's/^mlflow_tracking_username = //p' "$HOME/.mlflow/credentials")
  MLFLOW_TRACKING_PASSWORD=$(sed -n 's/^mlflow_tracking_password = //p' "$HOME/.mlflow/credentials")
  export MLFLOW_TRACKING_USERNAME MLFLOW_TRACKING_PASSWORD
fi
