"""Two accounts with two applications each behind one service that asks for tokens; once per module."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "service"))

from security_tenants import populated
from service_serving import served


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    """The service, its four applications, and a token of every kind."""
    with served(tmp_path_factory.mktemp("tenants"), require_tokens=True) as running:
        yield populated(running)
