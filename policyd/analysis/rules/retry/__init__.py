"""Rules on retry policies and sagas."""
