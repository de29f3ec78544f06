"""The same question has the same answer, in the same order, in every process."""

import os
import subprocess
import sys

HEAD = """manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: acme@x.io}}
components: {'a:b': {dir: a, templates: rust}}
agents:
"""
STORES = [f"s{number}" for number in range(8)]


def manifest():
    """One type that uses many stores, and one type that uses each of them."""
    read = [f"kv(?env) @ ?agent : * : {store}.**" for store in STORES]
    out = [HEAD, f"  Hub: {{initialCard: {{lowerBound: {{positive: {read}}}}}}}\n"]
    for store in STORES:
        grants = [f"kv(?env) @ ?agent : * : {store}.**", f"secret(?env) @ ?agent : reveal : {store}.key"]
        out.append(f"  {store.upper()}: {{initialCard: {{lowerBound: {{positive: {grants}}}}}}}\n")
    return "".join(out)


def test_seeds_of_hashes_change_nothing(tmp_path):
    (tmp_path / "golem.yaml").write_text(manifest(), encoding="utf-8")

    def told(seed, *question):
        command = [
            sys.executable,
            "-m",
            "policyd",
            "reach",
            "golem.yaml",
            "--env",
            "prod",
            *question,
            "--format",
            "json",
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=False
        )
        assert done.stdout, done.stderr
        return done.stdout

    for question in (("--blast-radius", "Hub"), ("--to", "secret(?env) : reveal : s3.key")):
        assert told("1", *question) == told("2", *question)
