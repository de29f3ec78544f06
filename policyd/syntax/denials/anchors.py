"""Literal texts at which a shape may stand, and the reader for each.

Source: host 5.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policyd.syntax.denials import (
    calls,
    card_errors,
    data_errors,
    host_errors,
    oplog_entries,
    services,
    target_phrases,
    wasi_codes,
)
from policyd.syntax.denials.hits import Hit, Scene

MAX_HITS = 20_000
"""Places that are read in one paste; further ones are only counted."""

MAX_LOOKS = 200_000
"""Places that are looked at, whether a shape stands there or not."""

Reader = Callable[[Scene, int], Hit | None]

ANCHORS: tuple[tuple[str, Reader], ...] = (
    ("ClassPermissionTarget", target_phrases.on_class_target),
    ("The permission target", target_phrases.on_target_phrase),
    ("Failed to evaluate permission target", target_phrases.on_failed_evaluation),
    ("The system-only action ", target_phrases.on_system_only),
    (" requires an auth context with cards", target_phrases.on_delegation),
    ("cannot safely determine SQL targets", data_errors.on_extraction),
    ("cannot construct database wildcard", data_errors.on_database_wildcard),
    ("RDBMS permission denied:", data_errors.on_rdbms),
    ("key-value permission denied:", data_errors.on_key_value),
    ("AgentOperationError", host_errors.on_agent_operation),
    ("agent operation permission denied", host_errors.on_agent_operation_text),
    ("permission-denied", host_errors.on_permission_denied_case),
    ("BackendError", host_errors.on_backend),
    ("backend-error", host_errors.on_backend),
    ("OplogReadError", host_errors.on_oplog_read),
    ("ConfigValueError", host_errors.on_config_value),
    ("config access denied", host_errors.on_config_access),
    ("permission denied", host_errors.on_permission_denied),
    ("secret permission denied", host_errors.on_secret),
    ("WebhookError", host_errors.on_webhook),
    ("webhook creation denied", host_errors.on_webhook_text),
    ("Entity invocation is not allowed to", host_errors.on_tool_limit),
    ("PermissionError", card_errors.on_card_error),
    ("permission-error", card_errors.on_card_error),
    *((name, card_errors.on_card_variant) for name in card_errors.OWN_VARIANTS),
    ("card-revoked", card_errors.on_card_tag),
    ("card-expired", card_errors.on_card_tag),
    ("invalid-pattern", card_errors.on_card_tag),
    ("invalid-verb", card_errors.on_card_tag),
    ("invalid-owner", card_errors.on_card_tag),
    ("invalid-recipient", card_errors.on_card_tag),
    ("InstallDelivery", card_errors.on_delivery),
    ("install-delivery", card_errors.on_delivery),
    ("install delivery", card_errors.on_delivery),
    ("Install delivery", card_errors.on_delivery),
    ("KeyValueError(", data_errors.on_driver),
    ("BlobstoreError(", data_errors.on_driver),
    ("PostgresError(", data_errors.on_driver),
    ("MySqlError(", data_errors.on_driver),
    ("MysqlError(", data_errors.on_driver),
    ("IgniteError(", data_errors.on_driver),
    ("Ignite2Error(", data_errors.on_driver),
    ("RdbmsError(", data_errors.on_driver),
    ("GOLEM_", wasi_codes.on_identity_variable),
    ("NotPresent", wasi_codes.on_not_present),
    ("(os error 63)", wasi_codes.on_not_permitted_os),
    ("NotPermitted", wasi_codes.on_not_permitted),
    ("not-permitted", wasi_codes.on_not_permitted_code),
    ("not-permitted", card_errors.on_card_tag),
    ("EPERM", wasi_codes.on_eperm),
    ("Permission denied (os error 2)", wasi_codes.on_access_os),
    ("kind: PermissionDenied", wasi_codes.on_os_debug),
    ("AccessDenied", wasi_codes.on_access_denied),
    ("access-denied", wasi_codes.on_access_denied_code),
    ("EACCES", wasi_codes.on_eacces),
    ("HttpRequestDenied", wasi_codes.on_http_denied),
    ("HTTP-request-denied", wasi_codes.on_http_denied),
    ("http-request-denied", wasi_codes.on_http_denied),
    ("is not bound to agent type", calls.on_unbound_tool),
    ("tool invocation requires the sidecar invocation backend", calls.on_no_dispatcher),
    ("does not accept scope cards", card_errors.on_no_scope_cards),
    ("the scope-card ", card_errors.on_scope_argument),
    ("card-revoked: scope", card_errors.on_scope_root),
    ("not-permitted: scope", card_errors.on_scope_root),
    (" is not permitted", card_errors.on_card_verb),
    *((phrase, card_errors.on_card_phrase) for phrase in card_errors.PHRASES),
    *((phrase, card_errors.on_unrevocable) for phrase in card_errors.UNREVOCABLE),
    ("permission card ", card_errors.on_gone_card),
    ("nstallFail", card_errors.on_failed_install),
    ("nstall-fail", card_errors.on_failed_install),
    ("NSTALL FAIL", card_errors.on_failed_install),
    ("nstall fail", card_errors.on_failed_install),
    ("scope cards require an active invocation", card_errors.on_no_invocation),
    ("revoke requires possession of the target card", card_errors.on_possession),
    ("install-card currently supports only agent targets", card_errors.on_install_target),
    ("rpc call to ", calls.on_generated_client),
    ("Remote agent ", calls.on_remote_agent),
    ("RPC denied:", calls.on_rpc),
    ("RpcError", calls.on_rpc),
    ('denied"', calls.on_denied_tag),
    ("denied'", calls.on_denied_tag),
    ("denied\\", calls.on_denied_tag),
    ("enied: ", calls.on_denied_text),
    ("Remote tool call failed:", calls.on_remote_tool),
    ("invalid tool resource", calls.on_invalid_tool_resource),
    ("Read-only agent method", calls.on_read_only),
    ("RetryPolicyError", calls.on_retry_policy),
    ("RPC calls to the same agent are not supported", calls.on_self_call),
    ("PermissionDenied", host_errors.on_bare_case),
    ("ErrorKind::PermissionDenied", wasi_codes.on_error_kind),
    ("Denied(", calls.on_denied_case),
    ("ermission-denied", oplog_entries.on_refused_input),
    ("ermissionDenied", oplog_entries.on_refused_input),
    ("ermission denied", oplog_entries.on_refused_input),
    ("AUTH_FORBIDDEN", services.on_forbidden_code),
    ("403 Forbidden", services.on_forbidden_status),
    ("AUTH_UNAUTHORIZED", services.on_unauthorized_code),
    ("401 Unauthorized", services.on_unauthorized_status),
    (" Service - Error: ", services.on_service_line),
    (" not found", services.on_not_found),
    ("_NOT_FOUND", services.on_missing_object),
    ("Invalid initial permission card", services.on_initial_card),
    ("INVALID_AGENT_INITIAL_PERMISSION_CARD", services.on_initial_code),
    ("card derivation is not allowed by the creator", services.on_creator_cards),
    ("Update introducing new agent type", services.on_new_type),
    ("Permission grants are not delegable by the caller", services.on_undelegable),
    ("NEW_AGENT_TYPE_MISSING_INITIAL_PERMISSIONS", services.on_missing_initial),
    ("Unauthorized: ", services.on_unauthorized),
    ("DOMAIN_NOT_REGISTERED", services.on_domain),
    ("INVALID_PERMISSION_SHARE_GRANT", services.on_share),
    ("agent contexts cannot delegate permission grants", services.on_share),
)
"""Literal and reader; a literal is cheap to find, the reader decides."""


def _inside(hit: Hit, length: int) -> Hit:
    """A find that reaches over an edge of the text, cut to it."""
    return replace(hit, start=max(0, hit.start), end=min(length, hit.end))


def find_hits(scene: Scene) -> tuple[list[Hit], int]:
    """All finds in a text, unsorted, and how many places were left unread."""
    hits: list[Hit] = []
    missed = 0
    text = scene.text
    for literal, reader in ANCHORS:
        looks = 0
        at = text.find(literal)
        while at >= 0:
            looks += 1
            if len(hits) >= MAX_HITS or looks > MAX_LOOKS:
                missed += text.count(literal, at) if len(hits) >= MAX_HITS else 0
                break
            hit = reader(scene, at)
            if hit is not None:
                hits.append(hit if hit.start >= 0 and hit.end <= len(text) else _inside(hit, len(text)))
            at = text.find(literal, at + len(literal))
    return hits, missed
