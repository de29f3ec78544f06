"""policyd: what a Golem agent may do, why, and what would change it."""

__version__ = "0.1.0"
