"""From the tree of one statement to the tables that it names, with their verbs.

Source: host 4.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from policyd.core.operations.refusal import Refusal, Unclear
from policyd.core.operations.sql import Engine, NamedTable, sql_refusal
from policyd.syntax.sql_forms import forbidden_form
from policyd.syntax.sql_tree import Name, Node, is_table_factor, name_of, nodes, tables_in
from policyd.syntax.sql_versions import is_older_insert, like_in_parentheses


class _RefusedError(Exception):
    """The statement is refused; the text is the platform's reason."""


class _UnlikeError(Exception):
    """The platform's newer parser reads this statement in another way."""


@dataclass(slots=True)
class _Uses:
    """What a statement does, its names once each, in the platform's order."""

    engine: Engine
    mutated: dict[Name, None] = field(default_factory=dict)
    queried: dict[Name, None] = field(default_factory=dict)

    def mutate(self, *names: Name) -> None:
        self.mutated.update(dict.fromkeys(names))

    def query(self, names: Iterable[Name]) -> None:
        self.queried.update(dict.fromkeys(names))

    def query_rest(self, names: Iterable[Name]) -> None:
        self.query(name for name in names if name not in self.mutated)


UNLIKE = Unclear("sql", "the platform's parser is one version newer and may read this statement differently")


def named_tables(statements: Node, engine: Engine) -> tuple[NamedTable, ...] | Refusal | Unclear:
    """The tables that a parsed text names: mutated ones, places that are read, then every other mention."""
    if len(statements) != 1:
        return sql_refusal("exactly one statement is required")
    statement = statements[0]
    reason = forbidden_form(statement)
    if reason:
        return sql_refusal(reason)
    kind, content = _kind(statement)
    reader = _READERS.get(kind)
    if reader is None:
        return sql_refusal("unsupported statement")
    uses = _Uses(engine)
    try:
        reader(content, uses)
    except _RefusedError as refused:
        return sql_refusal(str(refused))
    except _UnlikeError:
        return UNLIKE
    uses.query_rest(tables_in(statement))
    return (*_named("mutate", uses.mutated), *_named("query", uses.queried))


def _kind(statement: Node) -> tuple[str, Node]:
    if isinstance(statement, dict) and len(statement) == 1:
        return next(iter(statement.items()))
    return str(statement), None


def _named(verb: str, names: Iterable[Name]) -> Iterable[NamedTable]:
    for name in names:
        yield NamedTable(verb, None if name is None else tuple(value for value, _ in name))


def _plain(factor: Node, otherwise: str) -> Name:
    """The name of a plain table."""
    match factor:
        case {"Table": content} if is_table_factor(content):
            return name_of(content["name"])
        case _:
            raise _RefusedError(otherwise)


def _query(content: Node, uses: _Uses) -> None:
    """SELECT and VALUES: everything is in the text."""


def _insert(content: Node, uses: _Uses) -> None:
    if is_older_insert(uses.engine, content):
        raise _UnlikeError
    match content["table"]:
        case {"TableName": parts}:
            uses.mutate(name_of(parts))
        case _:
            raise _RefusedError("insert destination is not a concrete table")
    uses.query(tables_in([content["source"], content["returning"]]))


def _update(content: Node, uses: _Uses) -> None:
    target = content["table"]
    uses.mutate(_plain(target["relation"], "destination is not a concrete table"))
    uses.mutate(*tables_in(target))
    uses.query(tables_in([content["from"], content["assignments"], content["selection"], content["returning"]]))


def _delete(content: Node, uses: _Uses) -> None:
    if content["tables"]:
        raise _RefusedError("multi-table delete targets are ambiguous")
    targets = next(iter(content["from"].values()))
    if len(targets) != 1:
        raise _RefusedError("delete requires one concrete destination table")
    (target,) = targets
    if target["joins"]:
        raise _RefusedError("delete destination joins are ambiguous")
    uses.mutate(_plain(target["relation"], "destination is not a concrete table"))
    uses.query(tables_in([content[part] for part in ("using", "selection", "returning", "order_by", "limit")]))


def _merge(content: Node, uses: _Uses) -> None:
    uses.mutate(_plain(content["table"], "destination is not a concrete table"))
    uses.query(tables_in([content["source"], content["on"], content["clauses"]]))


def _truncate(content: Node, uses: _Uses) -> None:
    uses.mutate(*(name_of(target["name"]) for target in content["table_names"]))


def _drop(content: Node, uses: _Uses) -> None:
    if content["object_type"] != "Table":
        raise _RefusedError("unsupported statement")
    uses.mutate(*(name_of(parts) for parts in content["names"]))


def _create_table(content: Node, uses: _Uses) -> None:
    uses.mutate(name_of(content["name"]))
    uses.query(tables_in(content["query"]))
    is_same, like = like_in_parentheses(uses.engine, content["columns"])
    if not is_same:
        raise _UnlikeError
    uses.query([like] if like else _like(content["like"]))
    if content["clone"]:
        uses.query([name_of(content["clone"])])
    uses.query(name_of(parts) for parts in content["inherits"] or ())
    if content["partition_of"]:
        uses.query([name_of(content["partition_of"])])
    uses.query(_foreign([content["columns"], content["constraints"]]))


def _like(like: Node) -> Iterable[Name]:
    for _, node in nodes(like):
        if "defaults" in node and "name" in node:
            yield name_of(node["name"])


def _foreign(tree: Node) -> Iterable[Name]:
    """The tables that foreign keys refer to, columns first."""
    for _, node in nodes(tree):
        if "foreign_table" in node:
            yield name_of(node["foreign_table"])


_ALTERATIONS = frozenset(
    {
        "AddConstraint",
        "AddColumn",
        "DropConstraint",
        "DropColumn",
        "DropPrimaryKey",
        "DropForeignKey",
        "DropIndex",
        "RenameColumn",
        "RenameTable",
        "RenameConstraint",
        "ChangeColumn",
        "ModifyColumn",
        "AlterColumn",
        "SwapWith",
    }
)


def _alter_table(content: Node, uses: _Uses) -> None:
    uses.mutate(name_of(content["name"]))
    for operation in content["operations"]:
        kind, what = _kind(operation)
        if kind not in _ALTERATIONS:
            raise _RefusedError("unsupported alter-table operation")
        if kind == "RenameTable":
            uses.mutate(name_of(next(iter(what["table_name"].values()))))
        elif kind == "SwapWith":
            uses.mutate(name_of(what["table_name"]))
    uses.query(_foreign(content["operations"]))


_READERS: dict[str, Callable[[Node, _Uses], None]] = {
    "AlterTable": _alter_table,
    "CreateTable": _create_table,
    "Delete": _delete,
    "Drop": _drop,
    "Insert": _insert,
    "Merge": _merge,
    "Query": _query,
    "Truncate": _truncate,
    "Update": _update,
}
