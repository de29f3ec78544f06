"""Templates that name templates: unknown names, circles, two paths to one, mixed languages.

Source: manifest-format 4.
"""

from __future__ import annotations

from policyd.core.edition import Edition, Rules
from policyd.findings import Finding, Severity, nearest
from policyd.manifest import codes
from policyd.manifest.builtin import is_in_edition
from policyd.manifest.located import LocatedScalar, shown
from policyd.manifest.model import Application, Layered

MAX_FINDINGS = 1000
"""So many problems of template names are told; the rest is only counted."""

MAX_STEPS = 1_000_000
"""So many template names are followed for all elements together."""


def template_findings(application: Application, rules: Rules) -> tuple[Finding, ...]:
    """What is wrong with the template names of all components, agent types, tools and templates."""
    templates = {template.name: template for template in application.templates}
    found: list[Finding] = []
    users = (*application.templates, *application.components, *application.agents)
    untold = 0
    for user in (*users, *application.tools, *application.middleware):
        for name in user.templates:
            if len(found) < MAX_FINDINGS:
                found += _name_findings(name, templates, rules)
            elif name.text not in templates:
                untold += 1
    if untold:
        message = f"{untold} more unknown template names are not listed"
        found.append(Finding(codes.TOO_MANY_FINDINGS, Severity.ERROR, message, found[-1].span))
    circular = _circles(templates, found)
    if circular:
        return tuple(found)
    steps = 0
    for user in (*application.components, *application.agents, *application.tools, *application.middleware):
        more, walked = _reached(user, templates, rules)
        found += more
        steps += walked
        if steps > MAX_STEPS:
            message = f"more than {MAX_STEPS} template names are followed; the rest is not examined"
            found.append(Finding(codes.LAYER_LIMIT, Severity.ERROR, message, user.span))
            break
    return tuple(found)


def _name_findings(name: LocatedScalar, templates: dict[str, Layered], rules: Rules) -> list[Finding]:
    """What is wrong with one template name."""
    known = templates.get(name.text)
    if known is None:
        near = nearest(name.text, templates) if len(templates) <= MAX_FINDINGS else None
        message = f"no component template is called `{shown(name.text)}`"
        help_text = f"did you mean `{near}`?" if near else ""
        return [Finding(codes.UNKNOWN_TEMPLATE, Severity.ERROR, message, name.span, help_text)]
    if known.is_built_in and not is_in_edition(name.text, rules):
        message = f"edition `{rules.label}` has no built-in template `{name.text}`; it is taken as an empty layer"
        return [Finding(codes.OTHER_EDITION, Severity.WARNING, message, name.span)]
    return []


def _circles(templates: dict[str, Layered], found: list[Finding]) -> bool:
    """Tell every name that closes a circle; a walk without recursion, each template once."""
    done: set[str] = set()
    circular = False
    for start, first in templates.items():
        if start in done:
            continue
        path: dict[str, None] = {start: None}
        stack: list[tuple[str, list[LocatedScalar]]] = [(start, list(reversed(first.templates)))]
        while stack:
            name, left = stack[-1]
            if not left:
                stack.pop()
                path.pop(name)
                done.add(name)
                continue
            step = left.pop()
            if step.text in path:
                circular = True
                message = f"the template `{shown(step.text)}` is built on itself"
                found.append(Finding(codes.TEMPLATE_CYCLE, Severity.ERROR, message, step.span))
            elif step.text in templates and step.text not in done:
                path[step.text] = None
                stack.append((step.text, list(reversed(templates[step.text].templates))))
    return circular


def _reached(user: Layered, templates: dict[str, Layered], rules: Rules) -> tuple[list[Finding], int]:
    """What edition `next` refuses in the templates that one element reaches, and how many names were followed."""
    steps = 0
    twice = rules.is_next("template_reached_twice")
    found: list[Finding] = []
    seen: set[str] = set()
    languages: dict[str, str] = {}
    pending = list(reversed(user.templates))
    while pending:
        step = pending.pop()
        steps += 1
        template = templates.get(step.text)
        if template is None:
            continue
        if step.text in seen:
            if twice:
                message = f"the template `{shown(step.text)}` is reached by two paths from `{shown(user.name)}`"
                found.append(
                    Finding(codes.TEMPLATE_TWICE, Severity.ERROR, message, step.span, "name it in one place only")
                )
            continue
        seen.add(step.text)
        if template.guest_language:
            languages.setdefault(template.guest_language, step.text)
        pending += reversed(template.templates)
    if len(languages) > 1 and rules.edition is Edition.NEXT:
        listed = ", ".join(f"`{name}` ({language})" for language, name in languages.items())
        message = f"`{shown(user.name)}` mixes templates of different guest languages: {listed}"
        found.append(Finding(codes.LANGUAGE_MIXED, Severity.ERROR, message, user.span))
    return found, steps
