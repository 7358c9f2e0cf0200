"""Output of `landbridge impact`: a section for each effect, worst first, with the action under each line."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from landbridge.ops.impact import ImpactReport

_STYLES = {
    "data_loss": "bold red",
    "refused": "bold red",
    "replace": "red",
    "stop_pool": "magenta",
    "drain": "yellow",
    "in_place": "cyan",
}
#: Effects whose single steps are not printed.
_COUNTED = ("none",)


def print_report(impact_report: "ImpactReport", console: Console | None = None) -> None:
    """Print the report on standard error, like progress and prompts."""
    from landbridge.catalog.aws.impact import impact_facts
    from landbridge.ops.impact import by_effect

    console = console or Console(stderr=True, highlight=False, soft_wrap=True)
    titles = impact_facts().effects
    if not impact_report.impacts:
        console.print("impact: nothing changes")
    for effect, impacts in by_effect(impact_report.impacts):
        style = _STYLES.get(effect.value, "dim")
        console.print(Text(f"{titles[effect].title}: {len(impacts)}", style=style))
        if effect.value in _COUNTED:
            continue
        heading = ""
        for impact in impacts:
            guarded = " (protected: Pulumi refuses)" if impact.protected else ""
            console.print(Text(f"  {impact.operation:8} {impact.name:28} {impact.why}{guarded}"))
            # Print the same action only once for consecutive steps.
            if impact.first != heading:
                console.print(Text(f"           {impact.first}", style="green"))
            heading = impact.first
