"""What one anchor found: a shape at a place, before neighbouring finds become one denial.

Source: host 5.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from policyd.syntax.denials.debug_targets import ReadTarget
from policyd.syntax.denials.excerpt import Excerpt, excerpt
from policyd.syntax.denials.reading import NO_FACTS, OperationGuess, Surface

SMALL_CHARS = 4_096
SMALL_LINES = 12
"""A paste of at most this size is an error and not a log: the user says that it is one."""

NEAR = 1_500
"""Characters on each side in which a log has to speak of the platform for an ambiguous shape to count."""

_PLATFORM = re.compile(
    r"golem|GOLEM_|wasi[:_/-]|AUTH_FORBIDDEN|AUTH_UNAUTHORIZED|worker-executor|worker-service|/v1/(?:agents|components|environments)/"
    r"|ClassPermissionTarget|AgentOperationError|RpcError::|agent-type|agent type|initialCard"
)
_FOREIGN = re.compile(
    r"nginx|<html|<title>|apache|docker|kube|npm |npm:|node_modules|yarn|pip |sudo|chmod|ssh|publickey|sshd|systemd|/usr/|/etc/"
    r"|/var/|/root\b|/home/|/proc/|C:\\|arn:aws|s3\.|amazonaws|gcloud|github\.com|registry|postgres=|psql|ERROR: |java\.|mount"
    r"|kernel|audit\(|selinux|apparmor|iptables|bind\(|\.service\b|HTTP/1\.[01]\" 40|Traceback|Errno|bash:|zsh:|sh: |curl: \(",
    re.IGNORECASE,
)


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
        budget: characters that readers of long forms may still look at, so that hostile texts stay linear.
    """

    def __init__(self, text: str, *, is_small: bool) -> None:
        """Look at `text`."""
        self.text = text
        self.is_small = is_small
        self.budget = 2 * len(text) + 65_536

    def ahead(self, at: int, length: int, levels: int | None = None) -> Excerpt:
        """At most `length` characters from `at` on, unescaped."""
        return excerpt(self.text, at, length, levels)

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

    def line(self, at: int) -> str:
        """The line of `at`, cut at a bounded distance."""
        return self.text[self.line_start(at, 512) : self.line_end(at, 512)]

    def speaks_of_platform(self, at: int) -> bool:
        """Whether the text near `at` is about agents and not about some other program."""
        if _PLATFORM.search(self.text, max(0, at - NEAR), at + NEAR):
            return True
        return self.is_small and not _FOREIGN.search(self.text)

    def is_foreign(self, at: int) -> bool:
        """Whether the line of `at` is another program's."""
        return _FOREIGN.search(self.line(at)) is not None
