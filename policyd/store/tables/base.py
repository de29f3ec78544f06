"""The base of all tables: names of constraints, column types of our own, and the columns of a place."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer, MetaData, String, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

RowId = BigInteger().with_variant(Integer(), "sqlite")
"""Row numbers: 64 bits on both engines (SQLite counts only columns of type INTEGER by itself)."""

U64_DIGITS = 20


class Unsigned64(TypeDecorator[int]):
    """A whole number of up to 64 bits without sign, kept as text of 20 digits so that it sorts as a number.

    Neither engine has such a type; the platform's revisions and log indexes need it.
    """

    impl = String(U64_DIGITS)
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        """The digits of `value`."""
        return None if value is None else f"{value:0{U64_DIGITS}d}"

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """The number that the digits write."""
        return None if value is None else int(value)


class Base(DeclarativeBase):
    """All tables of policyd."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {str: Text()}  # noqa: RUF012 - the way SQLAlchemy wants it


class Placed:
    """Where a fact stands in its source; all empty where that is not known."""

    place_source: Mapped[str | None]
    place_line: Mapped[int] = mapped_column(default=0)
    place_column: Mapped[int] = mapped_column(default=0)
    place_start: Mapped[int] = mapped_column(BigInteger, default=0)
    place_end: Mapped[int] = mapped_column(BigInteger, default=0)
    place_path: Mapped[str] = mapped_column(default="")
