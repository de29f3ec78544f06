"""Templates that name templates: unknown names, circles, two paths to one, mixed languages.

Source: manifest-format 4.
"""

from __future__ import annotations

from policyd.core.edition import Edition, Rules
from policyd.findings import Finding, Severity, nearest
from policyd.manifest import codes
from policyd.manifest.builtin import is_in_edition
from policyd.manifest.located import LocatedScalar
from policyd.manifest.model import Application, Layered


def template_findings(application: Application, rules: Rules) -> tuple[Finding, ...]:
    """What is wrong with the template names of all components, agent types, tools and templates."""
    templates = {template.name: template for template in application.templates}
    found: list[Finding] = []
    users = (*application.templates, *application.components, *application.agents)
    for user in (*users, *application.tools, *application.middleware):
        found += _unknown(user, templates, rules)
    circular = _circles(templates, found)
    if circular:
        return tuple(found)
    for user in (*application.components, *application.agents, *application.tools, *application.middleware):
        found += _reached(user, templates, rules)
    return tuple(found)


def _unknown(user: Layered, templates: dict[str, Layered], rules: Rules) -> list[Finding]:
    found = []
    for name in user.templates:
        known = templates.get(name.text)
        if known is not None and known.is_built_in and not is_in_edition(name.text, rules):
            message = f"edition `{rules.label}` has no built-in template `{name.text}`; it is taken as an empty layer"
            found.append(Finding(codes.OTHER_EDITION, Severity.WARNING, message, name.span))
        if known is None:
            near = nearest(name.text, templates)
            found.append(
                Finding(
                    codes.UNKNOWN_TEMPLATE,
                    Severity.ERROR,
                    f"no component template is called `{name.text[:60]}`",
                    name.span,
                    f"did you mean `{near}`?" if near else "",
                )
            )
    return found


def _circles(templates: dict[str, Layered], found: list[Finding]) -> bool:
    """Tell every name that closes a circle; a walk without recursion, each template once."""
    done: set[str] = set()
    circular = False
    for start in templates:
        if start in done:
            continue
        path: dict[str, None] = {start: None}
        stack: list[tuple[str, list[LocatedScalar]]] = [(start, list(templates[start].templates))]
        while stack:
            name, left = stack[-1]
            if not left:
                stack.pop()
                path.pop(name)
                done.add(name)
                continue
            step = left.pop(0)
            if step.text in path:
                circular = True
                message = f"the template `{step.text[:60]}` is built on itself"
                found.append(Finding(codes.TEMPLATE_CYCLE, Severity.ERROR, message, step.span))
            elif step.text in templates and step.text not in done:
                path[step.text] = None
                stack.append((step.text, list(templates[step.text].templates)))
    return circular


def _reached(user: Layered, templates: dict[str, Layered], rules: Rules) -> list[Finding]:
    """What edition `next` refuses in the templates that one element reaches."""
    twice = rules.is_next("template_reached_twice")
    found: list[Finding] = []
    seen: set[str] = set()
    languages: dict[str, str] = {}
    pending = list(reversed(user.templates))
    while pending:
        step = pending.pop()
        template = templates.get(step.text)
        if template is None:
            continue
        if step.text in seen:
            if twice:
                message = f"the template `{step.text[:60]}` is reached by two paths from `{user.name[:60]}`"
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
        message = f"`{user.name[:60]}` mixes templates of different guest languages: {listed}"
        found.append(Finding(codes.LANGUAGE_MIXED, Severity.ERROR, message, user.span))
    return found
