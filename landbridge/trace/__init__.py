"""Trace of jobs: reader of CSV, sacct and squeue files, findings of their lines, and the concurrent demand of the jobs."""

from landbridge.trace.demand import Demand, demand_of
from landbridge.trace.job import Trace, TraceJob, of_kind
from landbridge.trace.reader import read

__all__ = ["Demand", "Trace", "TraceJob", "demand_of", "of_kind", "read"]
