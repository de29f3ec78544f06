"""Whatever is sent, the interface answers as it is described, and never with a defect of ours."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from policyd.service.app import create_app
from policyd.settings import Settings

SCHEMA = schemathesis.openapi.from_dict(create_app(Settings(database_url="sqlite://", require_tokens=False)).openapi())


def not_a_defect(context, response, case):
    """No 500, and no problem without a code."""
    assert response.status_code != 500
    if response.status_code >= 400 and not case.path.endswith("readyz"):
        assert response.json()["code"]


@pytest.mark.parametrize("operation", [o.ok() for o in SCHEMA.get_all_operations()], ids=lambda o: o.label)
def test_operation(shop, operation):
    """A few generated requests, good and bad, for each operation."""

    @settings(
        max_examples=6,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case):
        response = case.call(base_url=shop.base)
        case.validate_response(
            response,
            checks=[not_a_defect, status_code_conformance, content_type_conformance, response_schema_conformance],
        )

    run()
