"""Mistakes with the store of the site's secrets."""

from tests.unit.rules.row import Row

SHARED = {"backend": "https://api.pulumi.com"}

ROWS = [
    Row("wrong-format", "a vault password in the checkout", {("secrets",): {"store": "ansible-vault", "password_file": "password"}}, ("secrets", "password_file"), "outside the checkout"),
    Row("secrets-setting-unused", "a file of secrets, and the store is a folder", {("secrets",): {"file": "secrets.test.yaml"}}, ("secrets", "file"), "store: sops"),
    Row("secrets-setting-unused", "a password for sops", {("secrets",): {"store": "sops", "password_file": "/root/password"}}, ("secrets", "password_file"), "has no password file"),
    Row("secrets-not-shared", "a shared state and secrets on one machine", {("state",): SHARED}, ("secrets",), "landbridge secrets import"),
]  # fmt: skip
