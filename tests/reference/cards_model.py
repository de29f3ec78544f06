"""The card algebra over canonical texts, as the pseudo code of the specification writes it.

A card is a dictionary with `id` and the lists `lp`, `ln`, `up`, `un` of grant texts.
"""

from reference.grants_model import grant_covers, recipient_covers, split, target_covers


class RefusalError(Exception):
    """A check of section 6.1 or 6.3 fails: the kind, and the grant that it names."""


def recipient(grant):
    """The third part."""
    return split(grant)[2]


def authorize(cards, holder, request, scope=None):
    """5.1 and 5.2."""

    def keep(grants):
        return [g for g in grants if recipient_covers(recipient(g), holder)]

    def covered(grants):
        return any(target_covers(g, request) for g in grants)

    lower = [(keep(c["lp"]), keep(c["ln"])) for c in cards]
    upper = [(keep(c["up"]), keep(c["un"])) for c in cards]
    if scope is not None:
        lp, ln, up, un = (keep(scope[name]) for name in ("lp", "ln", "up", "un"))
        if lp:
            lower.append((lp, ln))
        if up or un:
            upper.append((up, un))
    if not any(covered(pos) and not covered(neg) for pos, neg in lower):
        return False
    for pos, neg in upper:
        if pos and not covered(pos):
            return False
        if covered(neg):
            return False
    return True


def attenuate(parents, child):
    """6.1."""
    wanted, wanted_not, ceiling, ceiling_not = child["lp"], child["ln"], child["up"], child["un"]
    witness = []

    def add(card):
        if card["id"] not in witness:
            witness.append(card["id"])

    for g in wanted:
        for card in parents:
            if any(grant_covers(p, g) for p in card["lp"]) and all(
                any(grant_covers(n2, n) for n2 in wanted_not) for n in card["ln"]
            ):
                add(card)
                break
        else:
            raise RefusalError("LowerBoundTooBroad", g)
    for card in parents:
        if not all(any(grant_covers(n2, n) for n2 in ceiling_not) for n in card["un"]):
            raise RefusalError("UpperBoundTooBroad", (ceiling + wanted + [None])[0])
        if card["up"] and not ceiling:
            raise RefusalError("UpperBoundTooBroad", None)
        if not all(any(recipient_covers(recipient(c), recipient(p)) for c in ceiling) for p in card["up"]):
            raise RefusalError("UpperBoundTooBroad", None)
        for g in ceiling:
            for p in card["up"]:
                if not (recipient_covers(recipient(p), recipient(g)) or recipient_covers(recipient(g), recipient(p))):
                    continue
                overlap = recipient(p) if recipient_covers(recipient(g), recipient(p)) else recipient(g)
                if not any(recipient_covers(recipient(q), overlap) and target_covers(q, g) for q in card["up"]):
                    raise RefusalError("UpperBoundTooBroad", g)
        if card["up"] or card["un"]:
            add(card)
    return witness


def select(wallet, child):
    """6.3: the id of the single parent, or None when several would be needed."""
    if not wallet:
        raise RefusalError("NotPermitted", None)
    ok = []
    for card in wallet:
        try:
            attenuate([card], child)
        except RefusalError:
            continue
        ok.append(card["id"])
    if ok:
        return max(ok)
    attenuate(wallet, child)
    return None
