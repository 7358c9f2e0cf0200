"""Resource types that the emulated AWS has nothing for: a graph with them is checked whole, and making one is refused."""

from typing import NoReturn

from sandbox.engine.aws.base import Bag, Kind, Refused


class Unemulated(Kind):
    """Checked as any other type, so that a recorded graph and a preview say what is wrong; never a silent success."""

    def create(self, news: Bag) -> tuple[str, Bag]:
        self._refuse()

    def read(self, id_: str, state: Bag) -> Bag | None:
        self._refuse()

    def delete(self, id_: str, state: Bag) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise Refused(f"{self.token}: the emulated AWS has no such thing; ask for it in a real environment only")


class TrustAnchor(Unemulated):
    token = "aws:rolesanywhere/trustAnchor:TrustAnchor"


class Profile(Unemulated):
    token = "aws:rolesanywhere/profile:Profile"


class Activation(Unemulated):
    token = "aws:ssm/activation:Activation"


class BudgetAction(Unemulated):
    token = "aws:budgets/budgetAction:BudgetAction"


class CostAllocationTag(Unemulated):
    token = "aws:costexplorer/costAllocationTag:CostAllocationTag"


class AnomalyMonitor(Unemulated):
    token = "aws:costexplorer/anomalyMonitor:AnomalyMonitor"


class AnomalySubscription(Unemulated):
    token = "aws:costexplorer/anomalySubscription:AnomalySubscription"


KINDS = (
    TrustAnchor,
    Profile,
    Activation,
    BudgetAction,
    CostAllocationTag,
    AnomalyMonitor,
    AnomalySubscription,
)
