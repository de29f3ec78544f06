"""Many items, one question: work spread over processes or machines, with the results of one undisturbed process."""

from policyd.fleet.lanes import Cluster, Here, Lane, LaneError, Work, run_all

__all__ = ["Cluster", "Here", "Lane", "LaneError", "Work", "run_all"]
