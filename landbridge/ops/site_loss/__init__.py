"""Drill of a site's loss: what must exist afterwards, where its copies are, and the steps to a control plane in AWS."""

from landbridge.ops.site_loss.drill import SiteLossDrill, site_loss

__all__ = ["SiteLossDrill", "site_loss"]
