"""Picture of each environment: drawn from its graph, up to date, and with the zones' resources inside their zones."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.graph.conftest import ROOT
from tests.graph.golden import SHIPPED, environment_of, recorded
from tests.graph.support.picture import picture

PICTURES = ROOT / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "stacks")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_picture_agrees_with_the_graph(name: str) -> None:
    graph, file = recorded(name), PICTURES / f"{name}.svg"
    drawn = picture(environment_of(name), graph)
    assert file.is_file() and file.read_text() == drawn, "python docs/pictures.py, and look at the picture"
    texts = _texts(file)
    for key, pool in graph.outputs["pools"].items():
        assert texts.count(f"Pool {key}") == len(pool["subnets"])
    for zone, subnet in graph.outputs["network"]["subnets"].items():
        assert zone in texts and subnet["cidr"] in texts
    for share in graph.outputs.get("file_systems", {}).values():
        assert any(line.endswith(f" at {share['mount']}") for line in texts)


@pytest.mark.parametrize("name", SHIPPED)
def test_texts_fit_into_their_boxes_and_boxes_do_not_overlap(name: str) -> None:
    root = ElementTree.parse(PICTURES / f"{name}.svg").getroot()
    drawn = [rect for rect in root.iter(f"{SVG}rect") if "x" in rect.attrib]
    boxes = [tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height")) for rect in drawn]
    for a in boxes:
        for b in boxes:
            assert a == b or _apart(a, b) or _inside(a, b) or _inside(b, a), (a, b)
    for text in list(root.iter(f"{SVG}text"))[1:]:
        x, y = float(text.get("x", "0")), float(text.get("y", "0"))
        around = [box for box in boxes if box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]]
        if around:
            left, _, width, _ = min(around, key=lambda box: box[2] * box[3])
            assert x + 0.56 * float(text.get("font-size", "0")) * len(text.text or "") <= left + width + 1, text.text


def test_every_picture_has_an_environment_and_is_on_the_page() -> None:
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(SHIPPED)
    page = Path(ROOT / "docs" / "explanation" / "pictures.md").read_text()
    assert set(re.findall(r"\.\./pictures/([a-z-]+)\.svg", page)) == set(SHIPPED)


def _texts(file: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(file).getroot().iter(f"{SVG}text")]


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]


def _inside(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return b[0] <= a[0] and b[1] <= a[1] and a[0] + a[2] <= b[0] + b[2] + 1 and a[1] + a[3] <= b[1] + b[3] + 1
