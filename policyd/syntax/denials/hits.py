"""What one anchor found: a shape at a place, before neighbouring finds become one denial.

Source: host 5.5.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from policyd.syntax.denials.debug_targets import ReadTarget
from policyd.syntax.denials.excerpt import Excerpt, Join, excerpt
from policyd.syntax.denials.reading import NO_FACTS, OperationGuess, Surface

SMALL_CHARS = 4_096
SMALL_LINES = 12
"""A paste of at most this size is an error and not a log: the user says that it is one."""

_FRAMES = 3
NEAR = 400
"""Characters on each side in which a log has to speak of the platform for an ambiguous shape to count."""

_PLATFORM = (
    "golem",
    "GOLEM_",
    "wasi:",
    "wasi_",
    "wasi-",
    "AUTH_FORBIDDEN",
    "AUTH_UNAUTHORIZED",
    "worker-executor",
    "worker-service",
    "/v1/agents/",
    "/v1/components/",
    "/v1/environments/",
    "ClassPermissionTarget",
    "AgentOperationError",
    "RpcError::",
    "agent-type",
    "agent type",
    "Agent type",
    "initialCard",
    "getSelfMetadata",
    "get_self_metadata",
    "get-self-metadata",
)
"""Words that only texts about the platform have."""

_FOREIGN = (
    *("nginx", "<html", "<title>", "</", "apache", "docker", "kube", "npm ", "npm:", "node_modules", "yarn", "pip "),
    *("sudo", "chmod", "ssh", "publickey", "systemd", "/usr/", "/etc/", "/var/", "/root", "/home/", "/proc/", "c:\\"),
    *("arn:aws", "s3.", "amazonaws", "gcloud", "github.com", "registry-1.", "ghcr.io", "postgres=", "psql", "error:  "),
    *("java.nio", "java.io", "java.security", "java.base", "kernel", "audit(", "selinux", "apparmor", "iptables"),
    *("bind(", ".service:", ".service ", 'http/1.1" 40', 'http/1.0" 40', "pull image", "to pull", "unpack"),
    *("manifests/", "dial tcp", "get request", "head request", "traceback", "[errno", "errno -1", "errno: -1"),
    *("node:internal", "node:fs", "node:net", "node:events", "bash:", "zsh:", "curl: (", "mount: "),
)
"""Words of other programs in lower case, whose denials are none of ours."""

TAG = re.compile(r"[\"']?(?:tag|kind|case|_tag)[\"']?\s{0,4}[:=(]{1,2}\s{0,4}[\"']?$")
"""What stands before the case of an error that is written as an object."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A shape at a place.

    Attributes:
        shape: its id.
        start: offset of the first character.
        end: offset behind the last character that was recognised.
        reach: offset up to which other finds belong to this one; at least `end`.
        kind: overrides the kind of the shape where the text tells more.
        surfaces: overrides those of the shape.
        facts: recognised parts by name.
        read: the target that the text carries.
        operations: overrides those of the shape.
        not_policy: overrides that of the shape.
        remark: overrides that of the shape.
        is_denial: overrides that of the shape.
    """

    shape: str
    start: int
    end: int
    reach: int = 0
    kind: str = ""
    surfaces: tuple[Surface, ...] = ()
    facts: Mapping[str, str] = field(default_factory=lambda: NO_FACTS)
    read: ReadTarget | None = None
    operations: tuple[OperationGuess, ...] = ()
    not_policy: str = ""
    remark: str = ""
    is_denial: bool | None = None

    @property
    def limit(self) -> int:
        """The greater of `end` and `reach`."""
        return max(self.end, self.reach)


class Scene:
    """The text that is searched, and what stands around a place in it.

    Attributes:
        text: a page's text.
        is_small: whether it is an error by itself and not a log.
        is_joined: whether its lines were joined, so that it has none of its own.
        budget: characters that readers of long forms may still look at, so that hostile texts stay linear.
    """

    def __init__(self, text: str, *, is_small: bool, is_joined: bool = False) -> None:
        """Look at `text`, whose lines are joined if `is_joined`."""
        self.text = text
        self.is_joined = is_joined
        self.is_small = is_small
        self.budget = 2 * len(text) + 65_536
        self._platform: list[int] | None = None
        self._foreign: dict[tuple[int, int], bool] = {}

    def ahead(self, at: int, length: int, levels: int | None = None, join: Join = Join.KEEP) -> Excerpt:
        """At most `length` characters from `at` on, unescaped."""
        return excerpt(self.text, at, length, levels, join)

    def behind(self, at: int, length: int) -> str:
        """At most `length` characters before `at`, with escaped quotes and backslashes plain."""
        return self.text[max(0, at - length) : at].replace("\\", "").replace("&quot;", '"').replace("u0022", '"')

    def line_end(self, at: int, most: int = 4_096) -> int:
        """The offset of the end of the line of `at`, at most `most` characters away."""
        found = self.text.find("\n", at, at + most)
        return found if found >= 0 else min(len(self.text), at + most)

    def line_start(self, at: int, most: int = 4_096) -> int:
        """The offset of the first character of the line of `at`, at most `most` characters away."""
        return max(self.text.rfind("\n", max(0, at - most), at) + 1, at - most, 0)

    def speaks_of_platform(self, at: int, *, can_be_small: bool = True) -> bool:
        """Whether the text near `at` is about agents and not about some other program.

        Args:
            at: a place.
            can_be_small: whether a short paste counts, in which nothing speaks of another program either.
        """
        if self._platform is None:
            self._platform = _places(self.text, _PLATFORM)
        after = bisect_left(self._platform, at - NEAR)
        if after < len(self._platform) and self._platform[after] <= at + NEAR:
            return True
        return can_be_small and self.is_small and not self._is_foreign(0, len(self.text))

    def line_speaks(self, at: int) -> bool:
        """Whether the line of `at`, cut at a bounded distance, is about the platform."""
        if self.is_joined:
            return False
        start, end = self.line_start(at, 512), self.line_end(at, 512)
        return any(self.text.find(word, start, end) >= 0 for word in _PLATFORM)

    def is_nothing_but(self, at: int, most: int) -> bool:
        """Whether a short paste's line of `at` says little more than what stands at `at`."""
        start, end = self.line_start(at, 512), self.line_end(at, 512)
        return self.is_small and end - start <= most and self.text.count("\n") <= 3

    def is_foreign(self, at: int) -> bool:
        """Whether the line of `at`, or the stack behind it, is another program's."""
        start, end = self.line_start(at, 512), self.line_end(at, 512)
        for _ in range(_FRAMES):  # the indented lines of a stack
            if self.text[end + 1 : end + 2] not in (" ", "\t") or self.text[end : end + 1] != "\n":
                break
            end = self.line_end(end + 1, 256)
        if end - start > 1_024:  # a long line is looked at in steps, so that many places in it cost no more than a few
            start = max(0, at - at % 256 - 512)
            end = start + 1_280
        return self._is_foreign(start, end)

    def _is_foreign(self, start: int, end: int) -> bool:
        known = self._foreign.get((start, end))
        if known is None:
            low = self.text[start:end].lower()
            known = self._foreign[start, end] = any(word in low for word in _FOREIGN)
        return known


def _places(text: str, words: tuple[str, ...]) -> list[int]:
    """Where the words stand, ascending."""
    places: list[int] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            places.append(at)
            at = text.find(word, at + len(word))
    return sorted(places)
