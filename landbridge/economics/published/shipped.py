"""Published models of the catalogue (catalog/published_models)."""

from collections.abc import Iterator

from landbridge.catalog.files import names, package

FOLDER = "published_models"


def shipped_models() -> Iterator[tuple[str, str]]:
    """Yield the path inside the catalogue and the text of each model, in alphabetical order."""
    folder = package()
    for name in sorted(names(folder, FOLDER)):
        yield f"{FOLDER}/{name}.yaml", folder.joinpath(FOLDER, f"{name}.yaml").read_text(encoding="utf-8")
