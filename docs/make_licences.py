"""Writes docs/licences.md: what policyd depends on, and under which licence each package is.

Run it in the environment of the project: `python docs/make_licences.py`. What is told comes from the metadata of
the installed packages; what metadata does not say in a known form stands in `NAMED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PERMISSIVE = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD", "CC0-1.0", "ISC", "MIT", "MIT-0"),
        *("PSF-2.0", "Python-2.0", "Unlicense", "Zlib", "BSL-1.0"),
    )
)
"""Licences under which a package may be used by and distributed beside Apache-2.0 code without further duties."""

BY_FILE = frozenset(("MPL-2.0", "LGPL-3.0-only", "LGPL-3.0-or-later", "LGPL-2.1-or-later"))
"""Licences that ask to give back changes of the package itself; good for packages that are installed unchanged."""

NAMED = {
    "atheris": ("Apache-2.0", "its repository; the metadata says nothing"),
    "libcst": ("MIT", "its metadata holds a sentence"),
}
"""Packages whose metadata names no licence in a known form, what it is, and how that is known."""

WORDS = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd license": "BSD",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""What older metadata calls them, in lower case."""

UNKNOWN = "unknown"
SECTIONS = {
    "": ("Always", "installed with `policyd`"),
    "postgres": ("`policyd[postgres]`", "to keep deployments in PostgreSQL"),
    "lsp": ("`policyd[lsp]`", "the language server"),
    "fleet": ("`policyd[fleet]`", "many applications at once"),
    "dev": ("Development", "to build and test policyd; nothing of it is distributed"),
    "fuzz": ("Fuzzing", "to look for inputs that break a reader; nothing of it is distributed"),
}
"""Extras of policyd, the empty text for what every installation has."""


def licence_of(package: Distribution) -> str:
    """The licence of an installed package as an SPDX expression; `unknown` where nothing says it."""
    name = package.metadata["Name"].lower()
    if name in NAMED:
        return NAMED[name][0]
    given = package.metadata.get("License-Expression") or ""
    if given:
        return given
    classifiers = [text for text in package.metadata.get_all("Classifier") or () if text.startswith("License ::")]
    for text in (package.metadata.get("License") or "", *(text.rpartition("::")[2] for text in classifiers)):
        line = text.strip()
        found = WORDS.get(line.lower(), line)
        if found and all(part in PERMISSIVE | BY_FILE for part in parts_of(found)):
            return found
    return UNKNOWN


def parts_of(expression: str) -> list[str]:
    """The licences that an expression names."""
    return [part for part in re.split(r"\s+(?:AND|OR|WITH)\s+|[()]", expression) if part.strip()]


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether one alternative of an expression asks for allowed licences only.

    >>> is_allowed("MIT AND PSF-2.0", PERMISSIVE), is_allowed("GPL-3.0-only OR MIT", PERMISSIVE)
    (True, True)
    """
    options = re.split(r"\s+OR\s+", expression.replace("(", " ").replace(")", " "))
    return any(all(part.strip() in allowed for part in re.split(r"\s+AND\s+", option)) for option in options)


def needed(name: str, extras: frozenset[str] = frozenset()) -> Iterator[Requirement]:
    """What an installed package asks for here, with these extras."""
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            yield requirement


def everything(extra: str) -> dict[str, Distribution]:
    """All packages that are installed for `policyd[extra]`, by their names, policyd itself left out."""
    found: dict[str, Distribution] = {}
    base = {requirement.name.lower() for requirement in needed("policyd")} if extra else set()
    waiting = [r for r in needed("policyd", frozenset((extra,))) if r.name.lower() not in base]
    while waiting:
        requirement = waiting.pop()
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:
            continue  # an extra that is not installed here
        name = package.metadata["Name"]
        if name not in found:
            found[name] = package
            waiting += needed(requirement.name, frozenset(requirement.extras))
    return found


def spelt(name: str) -> str:
    """The one spelling of a package's name.

    >>> spelt("Jinja2"), spelt("ruamel.yaml"), spelt("typing_extensions")
    ('jinja2', 'ruamel-yaml', 'typing-extensions')
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def document() -> str:
    """The page."""
    lines = [
        "# Dependencies and licences",
        "",
        "policyd is under Apache-2.0 ([LICENSE](../LICENSE)). Its wheel holds its own code only: no package of others",
        "is copied into it, and its pages load no script or style of others. What it needs is installed beside it.",
        "",
        "`python docs/make_licences.py` writes this page from the metadata of the installed packages, with everything",
        "that those need in turn; a test checks that each licence is known and fits. What always is installed is under",
        "permissive licences. Packages under MPL-2.0 and LGPL-3.0 are used unchanged and can be exchanged: only an",
        "extra or development brings them.",
    ]
    told: set[str] = set()
    for extra, (title, why) in SECTIONS.items():
        rows = {name: licence_of(package) for name, package in everything(extra).items() if name not in told}
        told |= set(rows)
        lines += ["", f"## {title}", "", f"{why[:1].upper()}{why[1:]}.", ""]
        lines += ["| package | licence |", "|---|---|"]
        lines += [f"| {spelt(name)} | {rows[name]} |" for name in sorted(rows, key=spelt)]
    lines += ["", "## Known otherwise", "", "| package | licence | known by |", "|---|---|---|"]
    lines += [f"| {name} | {licence} | {why} |" for name, (licence, why) in sorted(NAMED.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("licences.md").write_text(document(), encoding="utf-8")
