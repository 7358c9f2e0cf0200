"""Serving for environments of tests: two hosts of model servers, a gateway, and a service."""

from typing import Any

from landbridge.findings import DataPath

SERVICE: DataPath = ("serving", "services", "digits")


def served() -> dict[DataPath, Any]:
    """Return the values by path, each time new: an environment of tests keeps them."""
    return {
        ("onprem", "addresses", "srv01"): "10.20.0.31",
        ("onprem", "addresses", "srv02"): "10.20.0.32",
        ("onprem", "addresses", "gwm01"): "10.20.0.33",
        ("serving",): {
            "hosts": ["srv01", "srv02"],
            "gateway": "gwm01",
            "services": {
                "digits": {
                    "model": "digits",
                    "data_class": "internal",
                    "replicas": 2,
                    "port": 8500,
                    "accounts": ["vision"],
                    "objective": {"p95_ms": 50.0},
                }
            },
        },
    }
