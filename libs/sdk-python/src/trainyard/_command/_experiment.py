"""``trainyard experiment``: submits, lists, follows and steers experiments."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from ..client._api import Api, segment
from ..client._create import create as submit
from ..client._experiments import Experiment
from ..client._progress import Progress, left_text, percent_text
from ._call import (
    Call,
    Failure,
    UsageError,
    all_pages,
    at_text,
    first_line,
    number_text,
    whole_number,
)
from ._logs import follow_lines, print_lines
from ._progress import progress_fields
from ._states import phase_word


def path_of(experiment: str) -> str:
    return f"/api/v1/experiments/{segment(experiment)}"


def create(call: Call) -> None:
    given = call.given
    for override in given.config:
        if "=" not in override:
            raise UsageError(f"--config takes key=value, not {override!r}.")
    if not given.context:
        raise UsageError(f"Give the folder of training code after {given.file}.")
    if not Path(given.file).is_file():
        raise UsageError(f"The configuration {given.file} does not exist.")
    api = call.api()
    key = given.idempotency_key or str(uuid.uuid4())
    answer = submit(api, Path(given.file), given.context, (), given.config, given.paused, key)
    for warning in answer.get("warnings") or []:
        call.note(f"warning: {warning}")
    experiment = str(answer["experiment"]["id"])
    if call.json and not given.follow:
        call.message(answer)
    if not call.json:
        call.line(f"created experiment {experiment}")
    call.note(f"{api.url}{path_of(experiment).removeprefix('/api/v1')}")
    if given.follow:
        _follow(call, experiment)


def list_(call: Call) -> None:
    given = call.given
    query = [*(("labels", one) for one in given.label)]
    query += [("states", one.upper()) for one in given.state]
    query += [("workspace", given.workspace), ("project", given.project)]
    query += [("archived", "true")] if given.archived else []
    query += [("fields", one) for one in given.column]
    if given.column and not call.json:
        names = (
            "id name state phase progress estimated_end_at_ms trials trials_completed best_value metric"
            " created_at_ms"
        )
        query += [("fields", name) for name in names.split()]
    query += [("filter", given.filter), ("orderBy", given.sort)]
    limit = whole_number("--limit", given.limit, 1)
    page = all_pages(call.api(), "/api/v1/experiments", query, limit)
    if call.json:
        call.message(page)
        return
    call.table(
        [
            *("ID", "NAME", "STATE", "PROGRESS", "LEFT", "TRIALS", "BEST", "METRIC"),
            *given.column,
            "CREATED",
        ],
        [_row(item, given.column) for item in page["items"]],
    )


def _row(item: dict[str, Any], columns: list[str]) -> list[str]:
    values = item.get("values") or {}
    progress = Progress(item)
    more = [values.get(name) for name in columns]
    return [
        str(item.get("id")),
        str(item.get("name") or ""),
        _state(item),
        percent_text(progress.progress),
        left_text(progress.left_s),
        f"{item.get('trialsCompleted') or 0}/{item.get('trials') or 0}",
        number_text(item.get("bestValue")),
        str(item.get("metric") or ""),
        *(number_text(one) if isinstance(one, (int, float)) else str(one or "") for one in more),
        at_text(item.get("createdAtMs")),
    ]


def _state(item: dict[str, Any]) -> str:
    word = phase_word(item)
    return f"{word} archived" if item.get("archived") else word


def describe(call: Call) -> None:
    found = call.api().get(path_of(call.given.experiment))
    if call.json:
        call.message(found)
        return
    best = found.get("bestTrial")
    trials = [found.get(name) or 0 for name in ("trials", "trialsCompleted", "trialsFailed")]
    call.fields(
        [
            ("experiment", str(found["id"])),
            ("name", str(found.get("name") or "")),
            ("description", str(found.get("description") or "")),
            ("labels", ", ".join(found.get("labels") or [])),
            ("state", _state(found)),
            ("reason", first_line(str(found.get("reason") or ""))),
            ("waits for", str(found.get("waitsFor") or "")),
            ("workspace", str(found.get("workspace") or "")),
            ("project", str(found.get("project") or "")),
            ("owner", str(found.get("owner") or "")),
            ("created", at_text(found.get("createdAtMs"))),
            ("ended", at_text(found.get("endedAtMs"))),
            ("searcher", str(found.get("searcher") or "")),
            ("metric", _metric(found)),
            ("trials", "{} created, {} completed, {} failed".format(*trials)),
            *progress_fields(found),
            ("best", f"{number_text(found.get('bestValue'))} by trial {best}" if best else ""),
            ("seed", str(found.get("seed") or 0)),
        ]
    )


def _metric(found: dict[str, Any]) -> str:
    if not found.get("metric"):
        return ""
    return f"{found['metric']}, {'smaller' if found.get('smallerIsBetter') else 'larger'} is better"


def logs(call: Call) -> None:
    if call.given.follow:
        _follow(call, call.given.experiment, call.given)
    else:
        print_lines(call, path_of(call.given.experiment), with_trial=True)


def wait(call: Call) -> None:
    """Waits also while the platform is away. Ctrl-C detaches."""
    try:
        ended = _ended(call.api(float("inf")), call.given.experiment)
    except KeyboardInterrupt:
        call.note("detached; the trials continue")
        return
    if call.json:
        call.message(ended.as_json())
    else:
        call.line(f"experiment {ended.id} ended {ended.state}")
    _require_completed(ended)


def act(call: Call) -> None:
    """Applies a verb to one experiment, or to each of several."""
    given = call.given
    api = call.api()
    if len(given.experiments) == 1 and not given.dry_run:
        [experiment] = given.experiments
        answer = api.call("POST", f"{path_of(experiment)}/{given.verb}", {})
        if call.json:
            call.message(answer)
        else:
            call.line(f"experiment {experiment} is {_state(answer['experiment'])}")
        return
    reason = f"{given.verb}ed by a user" if given.verb in ("cancel", "kill") else ""
    body = {"experiments": given.experiments, "verb": given.verb, "reason": reason}
    answer = api.call("POST", "/api/v1/experiments:act", {**body, "dryRun": given.dry_run})
    items = answer.get("items") or []
    if call.json:
        call.message(answer)
    else:
        for item in items:
            call.line(_outcome(item, given.verb, given.dry_run))
    refused = sum(1 for item in items if item.get("outcome") == "refused")
    if refused:
        would = "would be" if given.dry_run else "were"
        raise Failure(f"{refused} of {len(items)} experiments {would} refused.")


def _outcome(item: dict[str, Any], verb: str, dry_run: bool) -> str:
    subject = f"experiment {item.get('experiment')}"
    if item.get("outcome") == "refused":
        return f"{subject}: refused, {item.get('detail')}"
    if item.get("outcome") == "unchanged":
        return f"{subject}: nothing to change"
    return f"{subject}: {verb}" if dry_run else f"{subject}: {verb}, done"


def _follow(call: Call, experiment: str, filters: Any = None) -> None:
    """Prints the lines of an experiment until it has ended. Ctrl-C detaches."""
    try:
        follow_lines(call, path_of(experiment), filters, with_trial=True)
        ended = _ended(call.api(float("inf")), experiment)
    except KeyboardInterrupt:
        call.note("detached; the trials continue")
        return
    if not call.json:
        call.line(f"experiment {experiment} ended {ended.state}")
    _require_completed(ended)


def _ended(api: Api, experiment: str) -> Experiment:
    return Experiment(api, api.get(path_of(experiment))).wait()


def _require_completed(ended: Experiment) -> None:
    if ended.state != "COMPLETED":
        reason = f": {first_line(ended.reason)}" if ended.reason else ""
        raise Failure(f"Experiment {ended.id} ended {ended.state}{reason}.")
