"""What use cases need from outside, so that tests and other stores can stand in.

Source: style 3.
"""

from __future__ import annotations

from typing import Protocol

from policyd.store.facts import Deployment
from policyd.store.snapshots import SnapshotInfo


class Snapshots(Protocol):
    """Stored deployments, as far as the asker may see them; what it may not see does not exist."""

    def resolve(self, reference: str) -> SnapshotInfo:
        """The snapshot that `@12` or `@account/application/environment` names.

        Raises:
            InputError: STORE010 or STORE011 where it names none.
        """

    def load(self, info: SnapshotInfo) -> Deployment:
        """All its facts."""
