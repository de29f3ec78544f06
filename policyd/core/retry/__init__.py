"""Retry policies: their forms, what selects them, how they step, and where they end."""
