"""The description of the interface is true: every example runs, and every answer has the form that is promised."""

import jsonschema
import pytest
from service_serving import served

from policyd.service.description import EXAMPLES, PARAMETERS


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    with served(tmp_path_factory.mktemp("examples"), require_tokens=False) as running:
        yield running


def _validated(document, operation, answer):
    """The answer against the schema of its status."""
    response = operation["responses"][str(answer.status_code)]
    content = response.get("content", {})
    if "application/json" in content:
        schema = {**content["application/json"]["schema"], "components": document["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())


def test_every_example_runs_and_answers_as_described(empty):
    """Bodies first, in their order; then every `GET` with the values of the examples."""
    document = empty.client.get("/v1/openapi.json").json()
    seen = set()
    for path, body in EXAMPLES.items():
        operation = document["paths"][path]["post"]
        assert operation["requestBody"]["content"]["application/json"]["example"] == body
        answer = empty.client.post(path, json=body)
        assert answer.status_code in (200, 201), (path, answer.text)
        _validated(document, operation, answer)
        seen.add((path, "post"))
    for path, operations in document["paths"].items():
        for method in ("get", "delete"):
            if method not in operations:
                continue
            operation = operations[method]
            values = {}
            for parameter in operation.get("parameters", ()):
                if parameter["required"]:
                    assert parameter["example"] == PARAMETERS[parameter["name"]]
                    values[parameter["name"]] = parameter["example"]
            if "card" in values:
                values["number"] = 2
            named = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"]
            filled = path.format(**{name: values[name] for name in named})
            query = {name: value for name, value in values.items() if name not in named}
            answer = empty.client.request(method, filled, params=query)
            assert answer.status_code == 200, (filled, answer.text)
            _validated(document, operation, answer)
            seen.add((path, method))
    described = {(path, method) for path, operations in document["paths"].items() for method in operations}
    assert seen == described


def test_every_operation_is_described_in_full(empty):
    """Each has a summary, a description, a tag, and problems with their media type."""
    document = empty.client.get("/v1/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            assert operation["tags"], where
            if path.startswith(("/v1/", "/access/")):
                assert operation["security"] == [{"HTTPBearer": []}], where
                for status in ("401", "403", "413", "422", "429", "503"):
                    schema = operation["responses"][status]["content"]["application/problem+json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}, where
