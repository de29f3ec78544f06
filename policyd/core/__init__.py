"""The pure core: values and decisions, without IO, clock, randomness or logging."""
