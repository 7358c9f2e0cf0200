"""Endpoint of AWS's API."""

from landbridge.environment import Environment


def aws_endpoint(environment: Environment) -> str | None:
    """Return the AWS endpoint of the services as their site sees it; None for AWS's own endpoints."""
    endpoints = environment.aws.endpoints
    return endpoints.onprem if environment.onprem is not None else endpoints.cloud
