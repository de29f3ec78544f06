"""Rules on cards, their bounds and their deploy."""
