"""MLflow's own client in commands: its settings, its pages, and its errors without a traceback."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PAGE = 1000
_SETTINGS = {
    # No telemetry from a closed network, and no logs of progress.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    # The client's line about the run would be in a command's output.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # A server that refuses or is absent answers at once in a command.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
}


def client_class(failure: Callable[[str], Exception]) -> Any:
    """Return the class MlflowClient. Raises `failure` if the package is missing. MLflow reads its settings at the import."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow import MlflowClient
    except ImportError:
        raise failure("the package mlflow is missing: pip install mlflow-skinny") from None
    return MlflowClient


def pages(search: Any, **arguments: Any) -> Iterator[Any]:
    """Yield the results of a search, page by page."""
    token = None
    while True:
        page = search(max_results=_PAGE, page_token=token, **arguments)
        yield from page
        token = page.token
        if not token:
            return


@contextmanager
def answers(uri: str, failure: Callable[[str], Exception]) -> Iterator[None]:
    """Raise `failure` for an error of the client."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        raise failure(f"{uri}: {' '.join(str(error).split())[:500]}") from None
    except OSError as error:
        raise failure(f"{uri}: {error}") from None
