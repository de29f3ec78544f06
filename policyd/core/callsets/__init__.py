"""Exact answers about all calls: sets of calls, their differences, and witnesses."""
