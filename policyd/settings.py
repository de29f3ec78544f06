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
        require_tokens: whether the HTTP interface asks for a token; `serve` turns it off on loopback addresses only.
        max_body_bytes: a longer request is refused; imports may be as long as `max_import_bytes`.
        max_json_depth: a request with deeper nesting is refused.
        max_requests: so many requests are worked on at a time in one process, the next are told to come later.
        request_timeout_s: a request that takes longer is given up.
        question_timeout_s: a question about all calls that asks for more effort, roughly in seconds, gets so much.
        shutdown_timeout_s: how long a stopping process waits for the requests it works on.
    """

    model_config = SettingsConfigDict(env_prefix="POLICYD_", frozen=True, extra="ignore")

    database_url: str = DEFAULT_DATABASE_URL
    busy_timeout_ms: int = Field(default=15_000, ge=0, le=3_600_000)
    statement_timeout_ms: int = Field(default=0, ge=0, le=3_600_000)
    pool_size: int = Field(default=5, ge=1, le=500)
    require_tokens: bool = True
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, le=1 << 32)
    max_import_bytes: int = Field(default=256 * 1024 * 1024, ge=1024, le=1 << 32)
    max_json_depth: int = Field(default=64, ge=4, le=1000)
    max_requests: int = Field(default=256, ge=1, le=100_000)
    request_timeout_s: float = Field(default=60, gt=0, le=3600)
    question_timeout_s: float = Field(default=10, gt=0, le=3600)
    shutdown_timeout_s: int = Field(default=20, ge=0, le=3600)
