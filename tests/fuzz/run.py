"""Fuzz every target for a while, guided by coverage: `make fuzz MINUTES=60`.

Each target runs in a process of its own with its corpus, which grows by what reaches new code and is kept small by
merging. An input that breaks something is written to `.fuzz/` and ends the run of its target; such an input becomes a
file under `tests/fuzz/found/TARGET/`, where the ordinary tests replay it for ever.

    python -m tests.fuzz.run [--minutes 60] [--only grants,http] [--jobs 2] [--seed 1]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
SCRATCH = Path(".fuzz")
MAX_LENGTH = 4_096
MAX_KEPT = 60
"""Files of a corpus that are kept: the smallest ones of the merged corpus."""
TIMEOUT_S = 20
MEMORY_MB = 2_000


def one(target: str, seconds: int, seed: int) -> tuple[str, int, str]:
    """Fuzz one target; its name, exit code and the last lines."""
    work = SCRATCH / target
    work.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "tests.fuzz.one", target, str(work), str(CORPUS / target),
        f"-max_total_time={seconds}", f"-timeout={TIMEOUT_S}", f"-rss_limit_mb={MEMORY_MB}", f"-max_len={MAX_LENGTH}",
        f"-seed={seed}", f"-artifact_prefix={SCRATCH}/{target}-", "-print_final_stats=1", "-verbosity=0",
        f"-dict={HERE / 'words.dict'}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    told = (done.stdout + done.stderr).strip().split("\n")
    return target, done.returncode, "\n".join(told[-40:])


def keep(target: str) -> int:
    """Merge what was found into the kept corpus, smallest first; how many files it has."""
    with tempfile.TemporaryDirectory() as merged:
        command = [
            sys.executable, "-m", "tests.fuzz.one", target, merged, str(CORPUS / target), str(SCRATCH / target),
            "-merge=1", f"-timeout={TIMEOUT_S}", "-verbosity=0",
        ]  # fmt: skip
        subprocess.run(command, capture_output=True, check=False)
        files = sorted(Path(merged).iterdir(), key=lambda path: (path.stat().st_size, path.name))[:MAX_KEPT]
        for path in files:
            shutil.copyfile(path, CORPUS / target / path.name)
    return len(files)


def main() -> int:
    """Fuzz, and say what broke."""
    from tests.fuzz.targets import TARGETS

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--only", default="")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", action="store_true", help="merge what was found into the kept corpus")
    asked = options.parse_args()
    names = asked.only.split(",") if asked.only else list(TARGETS)
    seconds = max(1, int(asked.minutes * 60 * asked.jobs / len(names)))
    print(f"{len(names)} targets, {seconds} s each, {asked.jobs} at a time, seed {asked.seed}")
    broken = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for name, code, told in pool.map(lambda name: one(name, seconds, asked.seed), names):
            counts = [line for line in told.split("\n") if "number_of_executed_units" in line]
            runs = counts[0].rpartition(":")[2].strip() if counts else "?"
            kept = f", {keep(name)} files kept" if asked.keep and code == 0 else ""
            print(f"{name}: {'nothing broke' if code == 0 else f'BROKEN ({code})'}, {runs} runs{kept}", flush=True)
            if code:
                broken += 1
                print(told, flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
