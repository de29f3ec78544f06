"""Work that goes wrong, for workers to import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any


def doubled(item: dict[str, Any]) -> dict[str, Any]:
    """Harmless work."""
    return {"item": item["item"], "twice": 2 * item["number"]}


def deadly(item: dict[str, Any]) -> dict[str, Any]:
    """Kill the worker, the first time or always, as the item says."""
    mark = Path(item["mark"])
    if item["kills"] == "always" or (item["kills"] == "once" and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return doubled(item)
