"""Addresses and ports of services: MLflow, model servers, registries, pipelines, monitoring and log store."""
