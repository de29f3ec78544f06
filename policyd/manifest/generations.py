"""Which manifest version a document is, and how older formats are recognised.

Source: manifest-format 0.
"""

from __future__ import annotations

import re

from policyd.core.edition import Rules
from policyd.findings import Finding, Severity, Span
from policyd.manifest import codes
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar, shown
from policyd.manifest.source import Source

_VERSIONS = ("1.5.0", "1.6.0")
_NEWER_VERSIONS = (*_VERSIONS, "2.0.0")
_OLDER_VERSION = re.compile(r"1\.[0-4](\.\d+)?([.-].*)?")
_OLDER_SCHEMA = re.compile(r"^\s*#.*schema\.golem\.cloud/app/golem/1\.[0-4]\.", re.MULTILINE)
_HEAD = 4096

_OLDER_ROOT = frozenset(
    ("templates", "witDeps", "tempDir", "dependencies", "apiVersion", "kind", "spec", "profiles", "defaultProfile")
)
_OLDER_ELEMENT = frozenset(("profiles", "defaultProfile", "template", "sourceWit", "generatedWit", "linkedWasm"))


def accepted_versions(rules: Rules) -> tuple[str, ...]:
    """The values of `manifestVersion` that the edition reads."""
    return _NEWER_VERSIONS if rules.is_next("manifest_versions") else _VERSIONS


def version_of(root: LocatedMap | None) -> LocatedScalar | None:
    """`manifestVersion` as written, None where it is missing."""
    value = root.get("manifestVersion") if root is not None else None
    return value if isinstance(value, LocatedScalar) and not value.is_absent else None


def older_format(source: Source, root: LocatedMap | None) -> Finding | None:
    """The finding that refuses a document of an older format as a whole, or None."""
    version = version_of(root)
    place: Span | None = None
    if version is not None:
        if _OLDER_VERSION.fullmatch(version.text):
            place = version.span
    else:
        marker = _older_key(root) if root is not None else None
        schema = _OLDER_SCHEMA.search(source.text, 0, _HEAD)
        if marker is not None:
            place = marker.span
        elif schema is not None:
            place = source.span(schema.start(), schema.end())
    if place is None:
        return None
    return Finding(
        codes.OLDER_FORMAT,
        Severity.ERROR,
        "older manifest format; only 1.5.0 and later are read",
        place,
        "bring the application to a current manifest version first",
    )


def version_problem(source: Source, root: LocatedMap | None, rules: Rules) -> Finding | None:
    """What is wrong with the version of a document, or None."""
    version = version_of(root)
    wanted = accepted_versions(rules)
    listed = ", ".join(f"`{text}`" for text in wanted[:-1]) + f" or `{wanted[-1]}`"
    if version is None:
        span = source.span(root.start, root.start, "$") if root is not None else source.span(0, 0, "$")
        return Finding(
            codes.VERSION_MISSING,
            Severity.ERROR,
            f"`{source.name}` lacks `manifestVersion`",
            span,
            f"add `manifestVersion` with {listed}; every document needs it, included ones too",
        )
    if version.text not in wanted:
        return Finding(
            codes.VERSION_UNSUPPORTED,
            Severity.ERROR,
            f"`{shown(version.text)}` is not a manifest version that edition `{rules.label}` reads",
            version.span,
            f"read are {listed}",
        )
    return None


def _older_key(root: LocatedMap) -> LocatedScalar | None:
    """The first key that only older formats have."""
    for key, value in root.entries:
        if key.text in _OLDER_ROOT:
            return key
        if key.text in ("components", "componentTemplates") and isinstance(value, LocatedMap):
            for _, element in value.entries:
                found = _older_element(element)
                if found is not None:
                    return found
    return None


def _older_element(element: Located) -> LocatedScalar | None:
    if not isinstance(element, LocatedMap):
        return None
    for key, value in element.entries:
        if key.text in _OLDER_ELEMENT or (key.text == "dependencies" and isinstance(value, LocatedList)):
            return key
        if key.text == "presets" and isinstance(value, LocatedMap):
            for _, preset in value.entries:
                found = _older_element(preset)
                if found is not None:
                    return found
    return None
