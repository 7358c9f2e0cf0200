"""What a job costs at the catalogue's dated prices."""

from landbridge.economics.cost import JobCost, job_cost, node_hour_usd, onprem_node_hour

__all__ = ["JobCost", "job_cost", "node_hour_usd", "onprem_node_hour"]
