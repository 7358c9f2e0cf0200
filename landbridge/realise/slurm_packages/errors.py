"""What can be in the way of building packages."""


class PackagesError(Exception):
    """Something is missing or refused; `fix` says what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
