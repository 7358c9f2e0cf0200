"""Errors of package builds."""


class PackagesError(Exception):
    """Missing or rejected input; `fix` is the remedy."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
