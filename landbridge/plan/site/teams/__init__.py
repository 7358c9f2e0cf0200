"""Plan of MLflow's workspaces for teams."""
