"""What a deployment installs: every entry of every middleware list, once."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.subject import Subject
from policyd.core.application import InstalledMiddleware


def every_entry(subject: Subject) -> Iterator[InstalledMiddleware]:
    """The entries of the environment-wide list and of the lists of tools, replaced ones too, in order of place."""
    found: dict[InstalledMiddleware, None] = dict.fromkeys(subject.deployment.tool_middleware)
    for agent in subject.deployment.agents:
        for tool in agent.tools:
            found.update(dict.fromkeys(tool.middleware))
            found.update(dict.fromkeys(entry for entry, _ in tool.dropped))
    return iter(sorted(found, key=lambda entry: (entry.span.source, entry.span.start)))
