"""What two target patterns have in common, where one of them is wider in each part.

Source: cards 4.
"""

from __future__ import annotations

from dataclasses import replace

from policyd.core.grants import ANY_VERB, Target


def meet(target: Target, pattern: Target) -> Target | None:
    """The target that is inside both, or None where a part of one does not contain that of the other.

    Patterns that cross without containing each other (`/a/*` and `/*/b`) give None, although they share calls.

    >>> from policyd.syntax import parse_target
    >>> a, b = parse_target("kv(x/p/e) : * : s.k"), parse_target("kv(x/*/*) : read : s.*")
    >>> meet(a, b).text
    'kv(x/p/e) : read : s.k'
    """
    if target.cls != pattern.cls:
        return None
    if target.verb == ANY_VERB:
        verb = pattern.verb
    elif pattern.verb in (ANY_VERB, target.verb):
        verb = target.verb
    else:
        return None
    if pattern.owner.covers(target.owner):
        owner = target.owner
    elif target.owner.covers(pattern.owner):
        owner = pattern.owner
    else:
        return None
    if pattern.resource.covers(target.resource):
        resource = target.resource
    elif target.resource.covers(pattern.resource):
        resource = pattern.resource
    else:
        return None
    return replace(target, verb=verb, owner=owner, resource=resource)
