"""The catalogue of host operations, read from the files beside this module.

Source: host 2.
"""

from policyd.syntax.operations.loader import catalogue, load_catalogue

__all__ = ["catalogue", "load_catalogue"]
