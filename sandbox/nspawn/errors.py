"""Errors of the lab, with messages that name the fix."""


class LabError(Exception):
    """A failure of the lab with a fix; `str()` is both, one line each."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.fix}" if self.fix else self.message
