"""The tool model: definitions, canonical input, constraints, and whether one tool may stand under another.

Source: middleware 1, 3.
"""
