"""What the surroundings decide about a run of policyd: environment variables, read once into one frozen value.

Every variable is named `POLICYD_` and the attribute in upper case.
"""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_DATABASE_URL = "sqlite:///policyd.db"


class Settings(BaseSettings):
    """The settings of one process; unknown variables are ignored, wrong ones refused when they are read.

    Attributes:
        database_url: an SQLAlchemy URL, SQLite or PostgreSQL (`postgresql+psycopg://…`); its password is never printed.
        busy_timeout_ms: how long a writer waits for another one before it gives up (SQLite).
        statement_timeout_ms: how long one statement may run (PostgreSQL); 0 for no limit.
        pool_size: connections kept open per process (PostgreSQL).
    """

    model_config = SettingsConfigDict(env_prefix="POLICYD_", frozen=True, extra="ignore")

    database_url: str = DEFAULT_DATABASE_URL
    busy_timeout_ms: int = Field(default=15_000, ge=0, le=3_600_000)
    statement_timeout_ms: int = Field(default=0, ge=0, le=3_600_000)
    pool_size: int = Field(default=5, ge=1, le=500)
