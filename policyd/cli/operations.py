"""Arguments about operations, and the holder that flags name, for `check --op`, `op` and `explain`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from policyd.cli import options as opt

if TYPE_CHECKING:
    from policyd.core.cards import ScopeCard, Timestamp
    from policyd.core.edition import Rules
    from policyd.report import Lines
    from policyd.usecases.deployments import Selection
    from policyd.usecases.explain_holding import Holding


def arguments_of(given: tuple[str, ...]) -> dict[str, object]:
    """`name=value` pairs.

    Raises:
        InputError: MANIF091 for anything else, or a name that is given twice.
    """
    found: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise opt.usage(f"`--arg {text[:60]}` is no argument", "write `--arg name=value`")
        if name in found:
            raise opt.usage(
                f"argument `{name}` is given twice", "lists are written with commas: `--arg flags=read,write`"
            )
        found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cards of a holder are, as the flags have it."""

    source: str
    wallet: Path | None
    agent: str
    holder: str
    selection: Selection
    include_root: Path | None
    at: Timestamp | None
    scope: ScopeCard | None
    rules: Rules

    def holding(self) -> tuple[Holding, Lines]:
        """The holder, and the lines that may be shown.

        Raises:
            InputError: if nobody is named, or what is named cannot be read.
        """
        if self.wallet is not None:
            return self._wallet(self.wallet)
        if not self.agent and not (self.holder and self.source.startswith("@")):
            raise opt.usage("which agent is asked about?", "give `--agent Type`, or `--wallet FILE`")
        return self._stored() if self.source.startswith("@") else self._manifest()

    def under(self, rules: Rules) -> Holding:
        """The same holder under other rules."""
        from dataclasses import replace

        return replace(self, rules=rules).holding()[0]

    def _wallet(self, path: Path) -> tuple[Holding, Lines]:
        from policyd.syntax.wallets import grant_places, read_wallet
        from policyd.usecases.explain_holding import of_wallet

        held = opt.read_file(path, lambda value: read_wallet(value, self.rules))
        text = opt.read_text(path)
        places = grant_places(opt.json_value(text, str(path)), str(path), text, self.rules)
        return of_wallet(held, self.rules, self.agent, self.at, self.scope, places), opt.lines_of(path)

    def _manifest(self) -> tuple[Holding, Lines]:
        from policyd.usecases.deployments import Described, agent_name, described, load
        from policyd.usecases.explain_holding import in_manifest

        def read(under: Rules) -> Described:
            loaded = load(Path(self.source), under, self.include_root)
            return described(loaded, self.selection, under, only=agent_name(self.agent)[0])

        here = read(self.rules)
        return in_manifest(here, self.selection, self.agent, self.rules, self.at, self.scope, read), here.line

    def _stored(self) -> tuple[Holding, Lines]:
        from policyd.cli.output import argument_lines
        from policyd.cli.store import database
        from policyd.usecases.explain_stored import stored_holding
        from policyd.usecases.snapshots import StoredSnapshots
        from policyd.usecases.stored_decisions import Decisions, StoredQuestion

        where = self.selection
        opt.demand_unplaced(
            env=where.environment, preset=where.presets, account=where.account, include_root=self.include_root
        )
        decisions = Decisions()
        with database() as store:
            snapshots = StoredSnapshots(store)
            info = snapshots.resolve(self.source)
            facts = decisions.facts(snapshots, info)
        question = StoredQuestion("", self.agent, self.holder, self.at, self.scope, where.component)
        return stored_holding(decisions, facts, info, question, self.rules), argument_lines
