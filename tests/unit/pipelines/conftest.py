"""MLflow server of the tests of model triggers."""

from collections.abc import Iterator

import pytest

from tests.unit.models.conftest import server


@pytest.fixture(scope="session")
def registry_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from server(tmp_path_factory.mktemp("registry"))
