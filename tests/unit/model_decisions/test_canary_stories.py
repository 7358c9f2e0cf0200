"""Stories of canaries that go wrong in different ways, and of some that go well: ends, seconds and clients, as the page states them."""

import re
from pathlib import Path

import pytest

from landbridge.models.canary.decide import CanaryAction
from tests.unit.model_decisions.canary_stories import STORIES, Story, ending, table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "canaries.md"
#: Clients that a candidate may fail before it is rolled back: 1 percent of the requests in the time of a decision.
MOST_BAD = 150


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_kserve_3369_a_story_ends_as_it_should(story: Story) -> None:
    end = ending(story)
    assert end.end is story.end, end
    if story.end is CanaryAction.ROLL_BACK and story.per_second > 10:
        assert end.bad <= MOST_BAD, end


def test_there_are_ten_bad_stories_and_three_good_ones() -> None:
    ends = [story.end for story in STORIES]
    assert ends.count(CanaryAction.ROLL_BACK) >= 10
    assert ends.count(CanaryAction.PROMOTE) >= 3


def test_a_share_that_is_the_same_at_both_versions_holds_the_weight() -> None:
    wrong = next(story for story in STORIES if story.name.startswith("60 percent"))
    assert "no evidence in refusals" in ending(wrong).reason
    # It never had more than the first weight.
    assert ending(wrong).requests < 172_800 * 2 * 0.011


def test_the_page_has_the_stories() -> None:
    section = PAGE.read_text().partition("\n## Stories\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| .* \|$", section, re.MULTILINE)
    assert rows[2:] == table(), "\n".join(table())
