"""Serving for environments of tests: two hosts of model servers, a gateway, and a service."""

from typing import Any

from landbridge.findings import DataPath

SERVICE: DataPath = ("serving", "services", "digits")
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG2 operator@example.org"


def served_in_aws() -> dict[DataPath, Any]:
    """Return the values with a host of model servers in AWS for the load above the site's."""
    values = served()
    values["serving",]["aws"] = {"zones": {"use1-az4": 1}, "image": "ami-0123456789abcdef0", "public_keys": [_KEY]}
    values["serving",]["services"]["digits"] |= {"replicas": 3, "canary": {}, "scale": {"host_rate": 50}}
    return values


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
