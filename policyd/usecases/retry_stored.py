"""Rules that are stored or sent: those of a snapshot, of documents, and what the stored cards say of sagas.

Source: retry 1.5, 1.8; interface, a place in the store.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath

from policyd.core.edition import Rules
from policyd.core.grants import Level
from policyd.core.retry import NamedPolicy, Policy, read_policy, read_predicate, read_rule
from policyd.core.retry.api_form import through_manifest
from policyd.core.retry.placed import PlacedPolicy
from policyd.findings import InternalDefect
from policyd.manifest import load_texts
from policyd.store.facts import Deployment, Origin, RetryPolicyFact
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import Selection, agent_name
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_stored import stored_holding
from policyd.usecases.retry_documents import read_document
from policyd.usecases.retry_saga import SagaAnswer, SagaQuestion, ask_saga
from policyd.usecases.retry_sources import RetryEnvironment, demand_few, environment_of, policy_of, rules_of_text
from policyd.usecases.saga_self_view import AgentCards
from policyd.usecases.stored_decisions import Decisions, StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts


def stored_environment(deployment: Deployment, info: SnapshotInfo | None = None) -> RetryEnvironment:
    """The rules of a stored environment.

    Those that the platform listed are in force. Rules of a manifest beside them are skipped where the platform has
    the name, as a deployment does, and are what the first deployment creates where it lists none.
    """
    listed = [fact for fact in deployment.retry_policies if fact.origin is Origin.PLATFORM]
    known = {fact.name for fact in listed}
    written = [f for f in deployment.retry_policies if f.origin is not Origin.PLATFORM and f.name not in known]
    skipped = len(deployment.retry_policies) - len(listed) - len(written)
    notes = []
    if listed and written:
        notes.append(f"{len(written)} rules are declared by the manifest only; they count as deployed")
    if skipped:
        notes.append(f"{skipped} rules of the manifest are skipped: the environment already has their names")
    policies = (*map(_listed, listed), *map(_declared, written))
    return RetryEnvironment(deployment.environment, policies, notes=tuple(notes), snapshot=info)


def snapshot_words(info: SnapshotInfo) -> str:
    """A snapshot as one names it where rules were read from it."""
    return f"@{info.number} ({info.label}, revision {info.revision}, digest {info.digest[:12]})"


def ask_stored_saga(
    question: SagaQuestion,
    facts: StoredFacts,
    info: SnapshotInfo,
    rules: Rules,
    decisions: Decisions,
    component: str = "",
) -> SagaAnswer:
    """The answer for an agent of a stored deployment, by the wallet it has there, else by its initial card.

    Raises:
        InputError: where the agent is not known.
    """
    environment = stored_environment(facts.deployment, info)
    selection = Selection(environment.name, None, facts.deployment.account, component)
    cards = stored_cards(facts, info, rules, decisions, component)
    return ask_saga(question, environment, facts.under(rules), selection, rules, cards)


def stored_cards(
    facts: StoredFacts, info: SnapshotInfo, rules: Rules, decisions: Decisions, component: str = ""
) -> AgentCards:
    """The wallets that agents have in a stored deployment, else their initial cards."""
    deployment = facts.deployment
    accounts = tuple(w.holder.text for w in deployment.wallets if w.holder.level is Level.ACCOUNT)
    where = f"({deployment.account}/{deployment.application}/{deployment.environment})"

    def asked(holder: str, target: str) -> StoredQuestion:
        if holder in accounts:
            return StoredQuestion(target.replace("(?env)", where), holder=holder)
        return StoredQuestion(target, holder, component=component)

    def may(holder: str, target: str) -> Answer:
        return decisions.answer(facts, info, asked(holder, target), rules)

    def holding(holder: str) -> Holding | None:
        name, _ = agent_name(holder)
        is_known = facts.under(rules).deployment.agent(name) is not None or facts.holder_of(name) is not None
        if not is_known and holder not in accounts:
            return None
        return stored_holding(decisions, facts, info, asked(holder, ""), rules)

    agents = tuple(w.agent_id for w in deployment.wallets if w.agent_id)
    return AgentCards(may, holding, (*accounts, *agents))


def sent_environment(documents: Sequence[tuple[str, str]], environment: str | None, rules: Rules) -> RetryEnvironment:
    """The rules of documents that were sent, by name and text: one of JSON, or those of a manifest.

    Raises:
        InputError: where they cannot be read.
    """
    if len(documents) == 1 and PurePath(documents[0][0]).suffix == ".json":
        name, text = documents[0]
        return RetryEnvironment(environment or "", rules_of_text(text, name))
    return environment_of(load_texts(documents, rules=rules), environment)


def sent_policy(document: object) -> Policy:
    """One policy tree: its value, or its YAML or JSON text.

    Raises:
        InputError: where it cannot be read.
    """
    if not isinstance(document, str):
        return policy_of(document)
    read: Policy = read_document(document, "policy", policy_of, is_json=False)
    return read


def sent_rules(documents: Sequence[object]) -> tuple[NamedPolicy, ...]:
    """Rules as the REST interface lists them.

    Raises:
        InputError: where one cannot be read, with its place.
    """
    demand_few(len(documents), None)
    return tuple(read_rule(document, (place,)) for place, document in enumerate(documents))


def _rule(fact: RetryPolicyFact) -> NamedPolicy:
    try:
        selector, policy = read_predicate(json.loads(fact.predicate)), read_policy(json.loads(fact.policy))
    except ValueError as why:
        raise InternalDefect.of(f"a stored retry policy cannot be read: {type(why).__name__}") from why
    return NamedPolicy(fact.name, fact.priority, selector, policy)


def _listed(fact: RetryPolicyFact) -> PlacedPolicy:
    rule = _rule(fact)
    return PlacedPolicy(rule, rule, fact.place)


def _declared(fact: RetryPolicyFact) -> PlacedPolicy:
    written = _rule(fact)
    return PlacedPolicy(through_manifest(written), written, fact.place)
