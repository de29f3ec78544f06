"""The codes of the manifest loader, one condition each. A code keeps its meaning for ever."""

from __future__ import annotations

UNREADABLE = "MANIF001"
TOO_LARGE = "MANIF002"
NOT_UTF8 = "MANIF003"
CONTROL_CHARACTER = "MANIF004"
INVISIBLE_CHARACTER = "MANIF005"

SYNTAX = "MANIF010"
TOO_DEEP = "MANIF011"
SECOND_DOCUMENT = "MANIF012"
UNKNOWN_ALIAS = "MANIF013"
ALIAS_IN_ITSELF = "MANIF014"
ALIAS_LIMIT = "MANIF015"
COLLECTION_KEY = "MANIF016"
TAG_REFUSED = "MANIF017"
TAG_DROPPED = "MANIF018"
TAG_MISFIT = "MANIF019"
DUPLICATE_KEY = "MANIF020"
DUPLICATE_NAME = "MANIF021"
MERGE_KEY = "MANIF022"
WIDE_INTEGER = "MANIF023"

UNKNOWN_KEY = "MANIF030"
WRONG_TYPE = "MANIF031"
NOT_TEXT = "MANIF032"
NOT_A_CHOICE = "MANIF033"
NOT_A_MARKER = "MANIF034"
OUT_OF_RANGE = "MANIF035"
MISSING_KEY = "MANIF036"
EXCLUSIVE_KEYS = "MANIF037"
BAD_NAME = "MANIF038"
OTHER_EDITION = "MANIF039"
LIST_FORM = "MANIF040"
OLD_BRIDGE_FORM = "MANIF041"
REFUSED_KEY = "MANIF042"
UPPER_CASE_NAME = "MANIF043"
RESERVED_PREFIX = "MANIF044"
NOTHING_EXPOSED = "MANIF045"
TOO_MANY_FINDINGS = "MANIF046"
NOT_READABLE = "MANIF047"

VERSION_MISSING = "MANIF050"
VERSION_UNSUPPORTED = "MANIF051"
VERSION_MIXED = "MANIF052"
OLDER_FORMAT = "MANIF053"

INCLUDES_TWICE = "MANIF060"
INCLUDE_OUTSIDE = "MANIF061"
INCLUDE_NOTHING = "MANIF062"
INCLUDE_UNREADABLE = "MANIF063"
INCLUDE_LIMIT = "MANIF064"
DEFINED_TWICE = "MANIF065"
NO_APP = "MANIF066"
NO_ENVIRONMENT = "MANIF067"
TWO_DEFAULTS = "MANIF068"
BAD_GLOB = "MANIF069"

UNKNOWN_TEMPLATE = "MANIF070"
TEMPLATE_CYCLE = "MANIF071"
TEMPLATE_TWICE = "MANIF072"
UNKNOWN_PRESET = "MANIF073"
LANGUAGE_MIXED = "MANIF074"
UNKNOWN_ENVIRONMENT = "MANIF075"
UNKNOWN_COMPONENT = "MANIF076"
BROKEN_TEMPLATE = "MANIF077"
UNKNOWN_DEFAULTS = "MANIF078"
LAYER_LIMIT = "MANIF079"

CODES: dict[str, str] = {
    UNREADABLE: "the manifest is missing, no file, or may not be read",
    TOO_LARGE: "the file is larger than the loader reads",
    NOT_UTF8: "the file is not UTF-8",
    CONTROL_CHARACTER: "a control character (NUL too) that YAML does not allow",
    INVISIBLE_CHARACTER: "a bidirectional or invisible character, which makes text look like other text",
    SYNTAX: "not YAML",
    TOO_DEEP: "nested deeper than the platform reads",
    SECOND_DOCUMENT: "a second document in one file",
    UNKNOWN_ALIAS: "an alias without an anchor before it",
    ALIAS_IN_ITSELF: "an alias inside its own anchor",
    ALIAS_LIMIT: "aliases expand beyond the limit",
    COLLECTION_KEY: "a map or a list as a key",
    TAG_REFUSED: "an own tag where the platform refuses it",
    TAG_DROPPED: "an own tag that the platform drops",
    TAG_MISFIT: "a standard tag that the value does not fit",
    DUPLICATE_KEY: "a key given twice in a fixed structure",
    DUPLICATE_NAME: "a name given twice in a map; the earlier entry is lost",
    MERGE_KEY: "`<<` is an ordinary name: nothing is merged",
    WIDE_INTEGER: "an integer outside 64 bits in a free value",
    UNKNOWN_KEY: "a key that the structure does not know",
    WRONG_TYPE: "a value of another type than the structure wants",
    NOT_TEXT: "an unquoted value that is read as another type where text is one of several shapes",
    NOT_A_CHOICE: "a text that is none of the known ones",
    NOT_A_MARKER: "a marker takes only the literal `true`",
    OUT_OF_RANGE: "a number outside its range",
    MISSING_KEY: "a required key is missing",
    EXCLUSIVE_KEYS: "keys of which only one may stand",
    BAD_NAME: "a name that does not follow its rule",
    OTHER_EDITION: "a key that this edition, or this manifest version, does not know",
    LIST_FORM: "defaults as a list, the form of older documents; a map is wanted",
    OLD_BRIDGE_FORM: "the bridge form of the 1.5.0 schema",
    REFUSED_KEY: "a key of the schema that the platform's loader refuses",
    UPPER_CASE_NAME: "variables of a component must be upper case",
    RESERVED_PREFIX: "variables beginning with `GOLEM_` belong to the platform",
    NOTHING_EXPOSED: "an MCP deployment that exposes neither agents nor tools",
    TOO_MANY_FINDINGS: "the document has more problems than are listed",
    NOT_READABLE: "a key of a tool or middleware that may be revealed and not read is dropped",
    VERSION_MISSING: "a document without `manifestVersion`",
    VERSION_UNSUPPORTED: "a `manifestVersion` that is not read",
    VERSION_MIXED: "documents of different manifest versions",
    OLDER_FORMAT: "the older manifest format, before 1.5.0",
    INCLUDES_TWICE: "`includes` in more than one loaded document",
    INCLUDE_OUTSIDE: "an include that leaves the folder it may read",
    INCLUDE_NOTHING: "an include that matches no file",
    INCLUDE_UNREADABLE: "an included file cannot be read",
    INCLUDE_LIMIT: "more included files, or more folders to look through, than are read",
    DEFINED_TWICE: "one name defined in two documents",
    NO_APP: "no `app` in any document",
    NO_ENVIRONMENT: "no environment in any document",
    TWO_DEFAULTS: "more than one default environment",
    BAD_GLOB: "an include pattern that is no pattern",
    UNKNOWN_TEMPLATE: "a template name that nothing defines",
    TEMPLATE_CYCLE: "templates that name each other in a circle",
    TEMPLATE_TWICE: "a template that is reached by two paths",
    UNKNOWN_PRESET: "a preset name that no layer defines",
    LANGUAGE_MIXED: "templates of different guest languages in one component",
    UNKNOWN_ENVIRONMENT: "an environment that the manifest does not define",
    UNKNOWN_COMPONENT: "a component that the manifest does not define",
    BROKEN_TEMPLATE: "a `{{ }}` text that cannot be understood; its value is unknown",
    UNKNOWN_DEFAULTS: "defaults for an environment that the manifest does not define",
    LAYER_LIMIT: "more template layers than are followed",
}
"""Code to what it means, in one line."""
