"""The structures of a manifest as tables, up to schema publication 1.6.0-dev.9.

Source: manifest-format 2 to 10, middleware 2.4, retry 1.6; where loader and schema differ, the loader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from policyd.manifest.kinds import (
    ByKey,
    ByTag,
    Choice,
    Field,
    Fields,
    Flag,
    Free,
    Many,
    Marker,
    NameRule,
    Names,
    Shapes,
    Text,
    Whole,
)

APP_NAME = NameRule("application name", re.compile(r"[a-z][a-z0-9-]*"), "lower-case letters, digits and hyphens")
ENVIRONMENT_NAME = NameRule(
    "environment name",
    re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"),
    "lower-case letters, digits and single hyphens between them",
)
COMPONENT_NAME = NameRule("component name", re.compile(r"[^:@/\s]+:[^:@/\s]+"), "`namespace:name`")
TOOL_NAME = NameRule(
    "tool name", re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"), "lower-case letters, digits and single hyphens"
)

MIDDLEWARE = "tool_middleware"
DEFAULT_TOOLS = "default_tools"
NEWER = "edition"

U32 = 2**32 - 1
U64 = 2**64 - 1

_TEXT = Text()
_TEXTS = Many(_TEXT)
_FREE = Free()
_FREE_MAP = Free(only_map=True)

NAME_LIST = Shapes("names separated by commas or spaces, or a list of texts", items=_TEXT)
VEC_MODE = Choice(("append", "prepend", "replace"))
MAP_MODE = Choice(("upsert", "replace", "remove"))
INTERSECT = Choice(("intersect",))
FILESYSTEM_ACCESS = Choice(("unset", "allowed", "denied"))
KEY_SCOPE = Shapes('`"*"` or a list of paths', words=("*",), items=_TEXT, not_items=("*",))

BOUND = Fields("bound", {"positive": Field(_TEXTS), "negative": Field(_TEXTS)})
INITIAL_CARD = Fields("initial card", {"lowerBound": Field(BOUND), "upperBound": Field(BOUND)})

FILE = Fields(
    "initial file",
    {
        "sourcePath": Field(_TEXT, required=True),
        "targetPath": Field(_TEXT, required=True),
        "permissions": Field(Choice(("read-only", "read-write"))),
    },
)
PLUGIN = Fields(
    "plugin installation",
    {
        "account": Field(_TEXT),
        "name": Field(_TEXT, required=True),
        "version": Field(_TEXT, required=True),
        "parameters": Field(Names(_TEXT)),
    },
)
INSTALLATION = Fields(
    "middleware installation",
    {
        "name": Field(Text(TOOL_NAME), required=True),
        "version": Field(_TEXT),
        "parameters": Field(_FREE_MAP),
        "account": Field(_TEXT),
        "secretKeysReadable": Field(KEY_SCOPE),
        "secretKeysRevealable": Field(KEY_SCOPE),
        "filesystemAccess": Field(FILESYSTEM_ACCESS),
    },
)
INSTALLATIONS = Many(Shapes("a middleware name, `name@version`, or a map", structure=INSTALLATION))

_BINDING: Mapping[str, Field] = {
    "version": Field(_TEXT),
    "parametersMergeMode": Field(MAP_MODE),
    "parameters": Field(_FREE_MAP),
    "account": Field(_TEXT),
    "secretKeysReadableMergeMode": Field(INTERSECT),
    "secretKeysReadable": Field(KEY_SCOPE),
    "secretKeysRevealableMergeMode": Field(INTERSECT),
    "secretKeysRevealable": Field(KEY_SCOPE),
    "configKeysReadableMergeMode": Field(INTERSECT, since=MIDDLEWARE),
    "configKeysReadable": Field(KEY_SCOPE, since=MIDDLEWARE),
    "filesystemAccess": Field(FILESYSTEM_ACCESS, since=MIDDLEWARE),
    "middleware": Field(INSTALLATIONS, since=MIDDLEWARE),
}
BINDING = Fields(
    "tool binding",
    {**_BINDING, "middlewareMergeMode": Field(Choice(("prepend", "append", "replace")), since=MIDDLEWARE)},
)
ENVIRONMENT_BINDING = Fields(
    "tool binding",
    {
        **_BINDING,
        "middlewareMergeMode": Field(
            Choice(("prepend", "append", "replace")),
            refused="stands in bindings of components and agents only, not of an environment",
        ),
    },
)
_NO_MIDDLEWARE_BINDING = "`middleware` cannot be the name of a tool"
BINDINGS = Names(BINDING, TOOL_NAME, {"middleware": Field(BINDING, refused=_NO_MIDDLEWARE_BINDING)})
ENVIRONMENT_TOOLS = Names(ENVIRONMENT_BINDING, TOOL_NAME, {"middleware": Field(INSTALLATIONS, since=MIDDLEWARE)})

_PROVISION: Mapping[str, Field] = {
    "config": Field(_FREE),
    "envMergeMode": Field(MAP_MODE),
    "env": Field(Names(_TEXT)),
    "pluginsMergeMode": Field(VEC_MODE),
    "plugins": Field(Many(PLUGIN)),
    "filesMergeMode": Field(VEC_MODE),
    "files": Field(Many(FILE)),
}
_NO_WASI = "is in the schema, but the platform's loader refuses it; use `env`"
_LAYER: Mapping[str, Field] = {
    **_PROVISION,
    "initialCard": Field(INITIAL_CARD),
    "wasiConfigMergeMode": Field(MAP_MODE, refused=_NO_WASI),
    "wasiConfig": Field(Names(_TEXT), refused=_NO_WASI),
}
_AGENT_LAYER: Mapping[str, Field] = {**_LAYER, "toolsMergeMode": Field(MAP_MODE), "tools": Field(BINDINGS)}

EXTERNAL_COMMAND = Fields(
    "command",
    {
        "command": Field(_TEXT, required=True),
        "dir": Field(_TEXT),
        "env": Field(Names(_TEXT)),
        "rmdirs": Field(_TEXTS),
        "mkdirs": Field(_TEXTS),
        "sources": Field(_TEXTS),
        "targets": Field(_TEXTS),
    },
)
BUILD_COMMAND = Shapes(
    "a build command",
    text=False,
    structure=ByKey(
        {
            "generateQuickjsCrate": Fields(
                "build command",
                {
                    "generateQuickjsCrate": Field(_TEXT, required=True),
                    "wit": Field(_TEXT, required=True),
                    "jsModules": Field(Names(_TEXT), required=True),
                    "world": Field(_TEXT),
                },
            ),
            "generateQuickjsDts": Fields(
                "build command",
                {
                    "generateQuickjsDts": Field(_TEXT, required=True),
                    "wit": Field(_TEXT, required=True),
                    "world": Field(_TEXT),
                },
            ),
            "injectToPrebuiltQuickjs": Fields(
                "build command",
                {
                    "injectToPrebuiltQuickjs": Field(_TEXT, required=True),
                    "module": Field(_TEXT, required=True),
                    "into": Field(_TEXT, required=True),
                },
            ),
            "preinitializeJs": Fields(
                "build command",
                {"preinitializeJs": Field(_TEXT, required=True), "into": Field(_TEXT, required=True)},
            ),
            "command": EXTERNAL_COMMAND,
        }
    ),
)
COMMANDS = Names(Many(EXTERNAL_COMMAND))

DEPENDENCY = Shapes(
    "a name, `component/name`, or a map",
    structure=Fields("dependency", {"component": Field(_TEXT, required=True), "name": Field(_TEXT, required=True)}),
)
CONFIG_SCHEMA = Fields(
    "config schema",
    {
        "schema": Field(_FREE_MAP),
        "declarations": Field(
            Many(
                Fields(
                    "config declaration",
                    {
                        "source": Field(Choice(("Local", "Secret")), required=True),
                        "path": Field(_TEXTS, required=True),
                        "value_type": Field(_FREE_MAP, required=True),
                    },
                )
            )
        ),
    },
)
_COMPONENT_LAYER: Mapping[str, Field] = {
    **_LAYER,
    "componentWasm": Field(_TEXT),
    "outputWasm": Field(_TEXT, gone_in="2.0.0"),
    "dependencies": Field(
        Fields("dependencies", {"agents": Field(Many(DEPENDENCY)), "tools": Field(Many(DEPENDENCY))})
    ),
    "buildMergeMode": Field(VEC_MODE),
    "build": Field(Many(BUILD_COMMAND)),
    "customCommands": Field(COMMANDS),
    "clean": Field(_TEXTS),
    "toolsMergeMode": Field(MAP_MODE, since=MIDDLEWARE),
    "tools": Field(BINDINGS, since=MIDDLEWARE),
    "configSchema": Field(CONFIG_SCHEMA, since=NEWER),
}
COMPONENT_PRESET = Fields("component preset", {**_COMPONENT_LAYER, "default": Field(Marker())})
COMPONENT_TEMPLATE = Fields(
    "component template",
    {
        **_COMPONENT_LAYER,
        "templates": Field(NAME_LIST),
        "presets": Field(Names(COMPONENT_PRESET)),
        "guestLanguage": Field(Choice(("ts", "effect", "rust", "scala", "moonbit", "go")), since=NEWER),
    },
)
COMPONENT = Fields(
    "component",
    {
        **_COMPONENT_LAYER,
        "templates": Field(NAME_LIST),
        "dir": Field(_TEXT),
        "presets": Field(Names(COMPONENT_PRESET)),
    },
)
AGENT_PRESET = Fields("agent preset", {**_AGENT_LAYER, "default": Field(Marker())})
AGENT = Fields(
    "agent type",
    {**_AGENT_LAYER, "templates": Field(NAME_LIST), "presets": Field(Names(AGENT_PRESET))},
)

RELEASE = ByKey(
    {
        "releaseId": Fields("release", {"releaseId": Field(_TEXT, required=True)}),
        "name": Fields(
            "release",
            {
                "account": Field(_TEXT, required=True),
                "name": Field(Text(TOOL_NAME), required=True),
                "version": Field(_TEXT, required=True),
            },
        ),
    }
)
_DECLARATION: Mapping[str, Field] = {
    **_PROVISION,
    "templates": Field(NAME_LIST),
    "presets": Field(Names(Fields("tool preset", {**_PROVISION, "default": Field(Marker())}))),
    "component": Field(_TEXT, since=MIDDLEWARE),
    "release": Field(Shapes("a release", text=False, structure=RELEASE), since=MIDDLEWARE),
}
TOOL_DECLARATION = Fields("tool declaration", _DECLARATION, at_most_one=(("component", "release"),))
MIDDLEWARE_DECLARATION = Fields("middleware declaration", _DECLARATION, at_most_one=(("component", "release"),))
MIDDLEWARE_NAME = NameRule("middleware name", TOOL_NAME.pattern, TOOL_NAME.says)
TOOLS = Names(
    TOOL_DECLARATION,
    TOOL_NAME,
    {"middleware": Field(Names(MIDDLEWARE_DECLARATION, MIDDLEWARE_NAME), since=MIDDLEWARE)},
)

_GIT: Mapping[str, Field] = {"allowDirty": Field(Flag()), "staticFallback": Field(_TEXT)}
_GIT_HASH = Fields("version source", {"hashOnly": Field(Marker(), required=True), **_GIT})


def _version_source(*, tag_required: bool) -> Shapes:
    tags = Fields(
        "version source",
        {
            "tagPattern": Field(_TEXT, required=tag_required),
            "commitInfo": Field(Flag()),
            "hashFallback": Field(Flag()),
            **_GIT,
        },
    )
    git = ByKey({"hashOnly": _GIT_HASH, "tagPattern": tags})
    return Shapes(
        "a version text, or `git` or `env`",
        structure=Fields("version source", {"git": Field(git), "env": Field(_TEXT)}, exactly_one=(("git", "env"),)),
    )


SERVER = Shapes(
    "`local`, `cloud`, or a map with `url` and `auth`",
    words=("local", "cloud"),
    structure=Fields(
        "server",
        {
            "url": Field(_TEXT, required=True),
            "workerUrl": Field(_TEXT),
            "allowInsecure": Field(Flag()),
            "auth": Field(
                Fields(
                    "server auth",
                    {"oauth2": Field(Marker()), "staticToken": Field(_TEXT)},
                    exactly_one=(("oauth2", "staticToken"),),
                ),
                required=True,
            ),
        },
    ),
)
ENVIRONMENT = Fields(
    "environment",
    {
        "default": Field(Marker()),
        "account": Field(_TEXT),
        "server": Field(SERVER),
        "componentPresets": Field(NAME_LIST),
        "cli": Field(
            Fields(
                "command line options",
                {
                    "format": Field(Choice(("text", "json", "yaml", "pretty", "pretty-json", "pretty-yaml", "toon"))),
                    "autoConfirm": Field(Marker()),
                    "redeployAgents": Field(Marker()),
                    "reset": Field(Marker()),
                },
            )
        ),
        "deployment": Field(
            Fields(
                "deployment options",
                {
                    "compatibilityCheck": Field(Flag()),
                    "versionCheck": Field(Flag()),
                    "securityOverrides": Field(Flag()),
                    "toolCompatibilityMode": Field(
                        Choice(("strict-equality", "structural-subtype", "nominal")), since=MIDDLEWARE
                    ),
                },
            )
        ),
        "version": Field(_version_source(tag_required=False)),
        "tools": Field(ENVIRONMENT_TOOLS),
        "toolsMergeMode": Field(MAP_MODE, until=MIDDLEWARE),
        "defaultTools": Field(
            Shapes('`"*"` or a list of tool names', words=("*",), items=_TEXT, not_items=("*",)),
            since=DEFAULT_TOOLS,
        ),
    },
)

_SUBDOMAIN = (("domain", "subdomain"),)
HTTP_DEPLOYMENT = Fields(
    "HTTP deployment",
    {
        "domain": Field(_TEXT),
        "subdomain": Field(_TEXT),
        "webhookUrl": Field(_TEXT),
        "openapiEndpoint": Field(_TEXT),
        "agents": Field(
            Names(
                Fields(
                    "agent options",
                    {"securityScheme": Field(_TEXT), "testSessionHeaderName": Field(_TEXT)},
                )
            )
        ),
        "scheme": Field(Choice(("http", "https")), since=NEWER),
    },
    exactly_one=_SUBDOMAIN,
)
MCP_DEPLOYMENT = Fields(
    "MCP deployment",
    {
        "domain": Field(_TEXT),
        "subdomain": Field(_TEXT),
        "agents": Field(Names(Fields("agent options", {"securityScheme": Field(_TEXT)}))),
        "tools": Field(
            Names(
                Fields(
                    "tool options",
                    {
                        "ownerComponent": Field(_TEXT, required=True),
                        "securityScheme": Field(_TEXT),
                        "include": Field(_TEXTS),
                        "exclude": Field(_TEXTS),
                    },
                    at_most_one=(("include", "exclude"),),
                )
            ),
            since=NEWER,
        ),
    },
    exactly_one=_SUBDOMAIN,
    some_of=("agents", "tools"),
)
MCP_IMPORT = Fields(
    "MCP import",
    {
        "url": Field(_TEXT, required=True),
        "auth": Field(
            Shapes(
                "`bearer` or `basic`",
                text=False,
                structure=Fields(
                    "MCP auth",
                    {
                        "bearer": Field(_TEXT),
                        "basic": Field(
                            Fields(
                                "basic auth",
                                {"user": Field(_TEXT, required=True), "password": Field(_TEXT, required=True)},
                            )
                        ),
                    },
                    exactly_one=(("bearer", "basic"),),
                ),
            )
        ),
        "securityScheme": Field(_TEXT),
        "prefix": Field(_TEXT),
        "include": Field(_TEXTS),
        "exclude": Field(_TEXTS),
        "version": Field(_TEXT),
    },
    at_most_one=(("auth", "securityScheme"), ("include", "exclude")),
)

RETRY_DEFAULT = Fields(
    "retry policy default",
    {
        "priority": Field(Whole(0, U32), required=True),
        "predicate": Field(_FREE, required=True),
        "policy": Field(_FREE, required=True),
    },
)
_LIMIT_VALUE = Field(Whole(0, U64), required=True)


def _limit(name: str, more: Mapping[str, Field]) -> Fields:
    return Fields("resource limit", {"type": Field(Choice((name,)), required=True), "value": _LIMIT_VALUE, **more})


RESOURCE_LIMITS: Mapping[str, Fields] = {
    "Rate": _limit(
        "Rate",
        {
            "period": Field(Choice(("second", "minute", "hour", "day", "month", "year")), required=True),
            "max": _LIMIT_VALUE,
        },
    ),
    "Capacity": _limit("Capacity", {}),
    "Concurrency": _limit("Concurrency", {}),
}
RESOURCE_DEFAULT = Fields(
    "resource default",
    {
        "limit": Field(ByTag("resource limit", "type", RESOURCE_LIMITS), required=True),
        "enforcementAction": Field(Choice(("reject", "throttle", "terminate")), required=True),
        "unit": Field(_TEXT, required=True),
        "units": Field(_TEXT, required=True),
    },
)

_OLD_BRIDGE: Mapping[str, Field] = {
    "agents": Field(NAME_LIST, only_in="1.5.0"),
    "outputDir": Field(_TEXT, only_in="1.5.0"),
}
_RUST_EXTRAS: Mapping[str, Field] = {
    "additionalDerives": Field(_TEXTS, since=NEWER),
    "additionalDependencies": Field(Names(_FREE), since=NEWER),
}


def _bridge(extras: Mapping[str, Field]) -> Fields:
    external: dict[str, Field] = {"agents": Field(NAME_LIST), "outputDir": Field(_TEXT), **extras}
    internal: dict[str, Field] = {**external, "tools": Field(NAME_LIST)}
    return Fields(
        "bridge targets",
        {
            "external": Field(Fields("bridge target", external)),
            "internal": Field(Fields("bridge target", internal)),
            **extras,
            **_OLD_BRIDGE,
        },
    )


BRIDGE = Fields(
    "bridge",
    {
        "ts": Field(_bridge({})),
        "rust": Field(_bridge(_RUST_EXTRAS)),
        "scala": Field(_bridge({})),
        "moonbit": Field(_bridge({})),
        "effect": Field(_bridge({}), since=NEWER),
    },
)

_PORT = Field(Whole(1, 65535))
LOCAL_SERVER = Fields(
    "local server",
    {
        "routerAddr": Field(_TEXT),
        "routerPort": _PORT,
        "customRequestPort": _PORT,
        "mcpPort": _PORT,
        "portsFile": Field(_TEXT),
        "dataDir": Field(_TEXT),
        "agentFilesystemRoot": Field(_TEXT),
        "systemMemoryOverride": Field(_TEXT, since=NEWER),
    },
)


_RELEASES = Names(Names(Fields("release entry", {}), TOOL_NAME))

ROOT = Fields(
    "manifest",
    {
        "manifestVersion": Field(_TEXT),
        "app": Field(Text(APP_NAME)),
        "includes": Field(_TEXTS),
        "componentTemplates": Field(Names(COMPONENT_TEMPLATE)),
        "components": Field(Names(COMPONENT, COMPONENT_NAME)),
        "agents": Field(Names(AGENT)),
        "tools": Field(TOOLS),
        "environments": Field(Names(ENVIRONMENT, ENVIRONMENT_NAME)),
        "version": Field(_version_source(tag_required=True)),
        "secretDefaults": Field(Names(Free(only_map=True, was_list=True))),
        "retryPolicyDefaults": Field(Names(Names(RETRY_DEFAULT, was_list=True), was_list=True)),
        "resourceDefaults": Field(Names(Names(RESOURCE_DEFAULT, was_list=True))),
        "httpApi": Field(Fields("HTTP API", {"deployments": Field(Names(Many(HTTP_DEPLOYMENT)))})),
        "mcp": Field(
            Fields(
                "MCP",
                {
                    "deployments": Field(Names(Many(MCP_DEPLOYMENT))),
                    "imports": Field(Names(Many(MCP_IMPORT)), since=MIDDLEWARE),
                },
            )
        ),
        "bridge": Field(BRIDGE),
        "localServer": Field(LOCAL_SERVER),
        "customCommands": Field(COMMANDS),
        "clean": Field(_TEXTS),
        "toolReleases": Field(_RELEASES, since=MIDDLEWARE),
        "toolMiddlewareReleases": Field(_RELEASES, since=MIDDLEWARE),
    },
)
