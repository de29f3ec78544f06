"""A served policyd per test module: a database of its own, uvicorn on a free loopback port, the shop imported."""

import pytest
from service_serving import Served, imported_shop, served


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The example shop in its environments `prod` and `local`, served without tokens."""
    with served(tmp_path_factory.mktemp("shop"), require_tokens=False) as running:
        imported_shop(running)
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The same with tokens required, and two accounts in it."""
    with served(tmp_path_factory.mktemp("guarded"), require_tokens=True) as running:
        imported_shop(running)
        running.add_manifest("other@example.com", "prod")
        yield running


__all__ = ["Served"]
