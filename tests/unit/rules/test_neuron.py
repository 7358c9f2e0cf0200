"""Images that a pool of Trainium may boot."""

from typing import Any

import pytest

from tests.unit.core.samples import findings
from tests.unit.rules.capacity.rows_neuron import POOL, TRAINIUM

DLAMI = "/aws/service/neuron/dlami/multi-framework/ubuntu-24.04/latest/image_id"


@pytest.mark.parametrize(
    ("image", "images"),
    [
        ("ami-0123456789abcdef0", {}),
        ("neuron", {"neuron": {"parameter": DLAMI}}),
        ("node", {"node": {"build": {"parent": "neuron"}}, "neuron": {"parameter": DLAMI}}),
        ("mine", {"mine": {"parameter": "/acme/images/neuron/latest/ami-id"}}),
    ],
)
def test_an_image_with_neuron_or_of_the_organisation_is_accepted(image: str, images: Any) -> None:
    changes = {**TRAINIUM, (*POOL, "image"): image, ("aws", "images"): images}
    assert [finding for finding in findings(changes) if finding.rule == "neuron-image"] == []
