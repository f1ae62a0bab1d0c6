"""The refusals of the platform that decide about a sealed checkpoint for good.

Only the registry's own codes about a checkpoint do. Every other refusal says something about the caller or about the
platform's history (a changed key, a log that went back, an older gateway), and may be answered otherwise later: the
checkpoint waits. The agent has the same codes (services/agent/src/core/checkpoint-refusals.ts).
"""

from __future__ import annotations

from .._http import Reply

FINAL = frozenset(
    {
        "checkpoint_abandoned",
        "checkpoint_deleted",
        "checkpoint_exists",
        "checkpoint_failed",
        "checkpoint_incomplete",
        "invalid_checkpoint",
        "invalid_manifest",
        "not_your_folder",
        "run_ended",
        "run_superseded",
        "storage_unsupported",
        "task_deleted",
        "work_not_kept",
    }
)

# The code for a run whose grant the log does not have. The platform accepts nothing from it.
HISTORY_LOST = "history_lost"

# The code for a checkpoint that was written to another storage than those that the platform knows at its root. The next
# one may have been written to one of these.
STORAGE_NOT_KNOWN = "storage_not_known"


def is_refusal(reply: Reply) -> bool:
    """Whether the platform refuses a sealed checkpoint permanently."""
    return _code_of(reply) in FINAL


def is_lost(reply: Reply | None) -> bool:
    """Whether the platform's log does not have this run, so that no request of it succeeds."""
    return reply is not None and _code_of(reply) == HISTORY_LOST


def waits_alone(reply: Reply) -> bool:
    """Whether the platform cannot take this checkpoint yet, and may take the next one."""
    return _code_of(reply) == STORAGE_NOT_KNOWN


def says_incomplete(plan: Reply) -> bool:
    """Whether the answer to a request for a plan is about the checkpoint: it is not complete, or not readable."""
    code = _code_of(plan)
    return code.startswith("checkpoint_") or code in FINAL


def _code_of(reply: Reply) -> str:
    is_problem = reply.is_of_platform() and 400 <= reply.status < 500
    return str(reply.json().get("code") or "") if is_problem else ""
