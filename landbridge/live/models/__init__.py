"""Registry of models in MLflow: registration, signatures, aliases, and transfers between registries."""
