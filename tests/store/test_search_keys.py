"""Laws of the index: whatever covers a target is stored under a pair of keys that the target looks up."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import RECIPIENTS, SLOTTED_RECIPIENTS, grants, targets

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import AgentContext, Level, Recipient, agent_holder, classes_of
from policyd.core.grants.resources import FilePath, NetworkResource
from policyd.store.codec import GrantReader, read_recipient
from policyd.store.search_keys import (
    MAX_LOOKUPS,
    Home,
    hashed,
    lookups,
    owner_key,
    owner_lookups,
    resource_key,
    resource_lookups,
    resource_prefix,
)
from policyd.syntax import Form, parse_grant, parse_recipient, parse_target

HOME = Home("ana@lab.io", "atlas", "qa")
IDS = ('Mapper("n1")', 'Mapper("n1")[7d0f0f0f-0000-4000-8000-00000000000b]', 'Router("z")')


def contexts():
    """Agents of the home environment."""
    return st.builds(
        lambda component, leaf: AgentContext(*HOME.segments, component, leaf.partition("(")[0], leaf),
        st.sampled_from(("geo:core", "nav:svc")),
        st.sampled_from(IDS),
    )


@given(grants(Form.POLYMORPHIC), targets(), contexts())
def test_what_covers_is_found(grant, target, context):
    """A grant that covers a target once its slots are filled is stored under keys that the target looks up."""
    filled = grant.filled(context).target
    applies = grant.recipient.covers(agent_holder(context))
    if applies and filled.cls == target.cls and filled.owner.covers(target.owner):
        assert owner_key(grant.target.owner, grant.recipient, HOME) in owner_lookups(target.owner, HOME)
    if filled.cls == target.cls and filled.resource.covers(target.resource):
        assert resource_key(grant.target.resource) in resource_lookups(target.resource)


@given(contexts(), contexts(), st.sampled_from(("?agent", "?component/*", "?component/Mapper(*)")), st.data())
def test_holders_find_their_own(context, other, owner, data):
    """Grants about the holder itself, or its component, are found by questions about its instances."""
    known = data.draw(st.sampled_from(("*", "ana@lab.io", "ana@lab.io/atlas/qa/*/*", "geo:core/*", "geo:core/Mapper")))
    recipient = f"ana@lab.io/atlas/qa/{known}" if known.startswith("geo") else known
    grant = parse_grant(f"agent({owner}) @ {recipient} : view : *", Form.POLYMORPHIC)
    asked = parse_target("agent(?agent) : view : *", NEXT, slots=True).filled(other)
    if grant.recipient.covers(agent_holder(context)) and grant.filled(context).target.owner.covers(asked.owner):
        assert owner_key(grant.target.owner, grant.recipient, HOME) in owner_lookups(asked.owner, HOME)


@given(st.data())
def test_within_a_class_resources_are_found(data):
    """The same for pairs of one class, which meet more often."""
    cls = data.draw(st.sampled_from(classes_of(NEXT)))
    broad = data.draw(grants(names=(cls.name,)))
    narrow = data.draw(targets(names=(cls.name,)))
    if broad.target.resource.covers(narrow.resource):
        assert resource_key(broad.target.resource) in resource_lookups(narrow.resource)
    if broad.target.owner.covers(narrow.owner):
        assert owner_key(broad.target.owner, broad.recipient, HOME) in owner_lookups(narrow.owner, HOME)


@given(st.lists(st.sampled_from(("a", "b", "*", "**")), max_size=5), st.lists(st.sampled_from("abc*"), max_size=5))
def test_paths_with_wildcards_anywhere(broad, narrow):
    """Runs of wildcards at any place of a path are found, also where the question carries stars."""
    wide, asked = FilePath(tuple(broad)), FilePath(tuple(narrow))
    if wide.covers(asked):
        assert resource_key(wide) in resource_lookups(asked)


@given(
    st.lists(st.sampled_from(("a", "B", "*")), min_size=1, max_size=4),
    st.lists(st.sampled_from(("a", "b", "*")), min_size=1, max_size=4),
)
def test_hosts_with_wildcards_anywhere(broad, narrow):
    """Star labels at any place of a host are found, whatever the case of letters."""
    wide, asked = NetworkResource(".".join(broad)), NetworkResource(".".join(narrow))
    if wide.covers(asked):
        assert resource_key(wide) in resource_lookups(asked)


@given(grants(Form.MANIFEST))
def test_stored_texts_are_read_back(grant):
    """The shortcut that reads stored grants gives what the parser gives."""
    assert GrantReader(NEXT).grant(grant.text, with_slots=True) == parse_grant(grant.text, Form.MANIFEST)


@given(st.sampled_from((*RECIPIENTS, *SLOTTED_RECIPIENTS)), st.sampled_from((NEXT, SNAPSHOT)))
def test_recipients_are_read_back(text, rules):
    """The inverse of a recipient's text agrees with the parser under both editions."""
    parsed = parse_recipient(text, slots=True, rules=rules)
    assert read_recipient(parsed.text, rules) == parsed
    assert isinstance(parsed.level, Level)


@given(grants())
def test_the_prefix_is_a_prefix(grant):
    """The prefix column holds the beginning of the resource's text, and no star."""
    prefix = resource_prefix(grant.target.resource)
    assert grant.target.resource.text.startswith(prefix)
    assert "*" not in prefix or prefix == grant.target.resource.text


def test_keys_of_strange_texts():
    """Keys are numbers of 64 bits with a sign, also for halves of surrogate pairs."""
    for text in ("", "a", "\ud800", "ü" * 10_000):
        assert -(2**63) <= hashed(text) < 2**63


def test_questions_with_too_many_keys_are_narrowed_by_the_rest():
    """A path of hundreds of segments and an id full of brackets do not make hundreds of keys."""
    deep = parse_target("filesystem(a@x/p/e/c/T(1)) : read : /" + "/".join("a" * MAX_LOOKUPS))
    found = lookups(deep, HOME)
    assert found.resources is None
    assert found.owners is not None
    odd = replace(deep.owner, known=(*deep.owner.known[:4], "(" * MAX_LOOKUPS + ")"))
    assert lookups(replace(deep, owner=odd), HOME).owners is None
    assert Recipient(Level.ANY).covers(Recipient(Level.AGENT, odd.known))
