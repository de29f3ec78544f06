"""One target under the fuzzer; called by `tests.fuzz.run`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["policyd"]):
    from tests.fuzz.targets import TARGETS


if __name__ == "__main__":
    target = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
    atheris.Fuzz()
