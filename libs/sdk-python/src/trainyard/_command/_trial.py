"""``trainyard trial``, ``checkpoint`` and ``model``: reads trials and downloads files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..client._api import segment
from ..client._metric_stream import all_points
from ..client._progress import Progress, duration_text, percent_text
from ._call import (
    Call,
    UsageError,
    all_pages,
    at_text,
    first_line,
    lines_of,
    number_text,
    printable,
    whole_number,
)
from ._logs import follow_lines, print_lines
from ._progress import progress_fields
from ._states import phase_word, state_word


def path_of(trial: str) -> str:
    return f"/api/v1/trials/{segment(trial)}"


def list_(call: Call) -> None:
    page = _rows(call, f"/api/v1/experiments/{segment(call.given.experiment)}/trials")
    if call.json:
        call.message(page)
        return
    call.table(
        ["TRIAL", "STATE", "PROGRESS", "BEST", "STEPS", "RAN", "RESTARTS", "HYPERPARAMETERS"],
        [
            [
                str(item.get("id")),
                phase_word(item),
                percent_text(float(item.get("progress") or 0)),
                number_text(item.get("bestValue")),
                number_text(item.get("stepsCompleted") or 0),
                duration_text(Progress(item).ran_s),
                str(item.get("restarts") or 0),
                " ".join(lines_of(item.get("hyperparameters") or {})),
            ]
            for item in page["items"]
        ],
    )


def describe(call: Call) -> None:
    found = call.api().get(path_of(call.given.trial))
    if call.json:
        call.message(found)
        return
    call.fields(
        [
            ("trial", str(found["id"])),
            ("state", phase_word(found)),
            ("reason", first_line(str(found.get("reason") or ""))),
            ("hyperparameters", " ".join(lines_of(found.get("hyperparameters") or {}))),
            ("seed", str(found.get("seed") or 0)),
            ("restarts", str(found.get("restarts") or 0)),
            *progress_fields(found),
            ("steps", number_text(found.get("stepsCompleted") or 0)),
            ("best", " ".join(lines_of(found.get("bestValidation") or {}))),
            ("latest", " ".join(lines_of(found.get("latestValidation") or {}))),
            ("checkpoint", str(found.get("latestCheckpoint") or "")),
            ("created", at_text(found.get("createdAtMs"))),
            ("ended", at_text(found.get("endedAtMs"))),
        ]
    )
    for line in found.get("lastLogLines") or []:
        call.line(f"  | {printable(str(line))}")


def logs(call: Call) -> None:
    path = path_of(call.given.trial)
    if not call.given.follow:
        print_lines(call, path, with_trial=False)
        return
    try:
        follow_lines(call, path, call.given, with_trial=False)
    except KeyboardInterrupt:
        call.note("detached; the trials continue")


def metrics(call: Call) -> None:
    given = call.given
    api = call.api()
    if given.follow:
        try:
            for point in all_points(api, given.trial, given.group, api.patience_s):
                if given.superseded or not point.get("superseded"):
                    _print_point(call, point)
        except KeyboardInterrupt:
            call.note("detached; the trials continue")
        return
    query = [("group", given.group), ("superseded", "true" if given.superseded else "")]
    page = all_pages(api, f"{path_of(given.trial)}/metrics", query)
    if call.json:
        call.message(page)
        return
    call.table(
        ["RUN", "GROUP", "STEPS", "METRICS", ""],
        [
            [
                str(point.get("run")),
                str(point.get("group") or ""),
                number_text(point.get("stepsCompleted") or 0),
                _values(point),
                "superseded" if point.get("superseded") else "",
            ]
            for point in page["items"]
        ],
    )


def _print_point(call: Call, point: dict[str, Any]) -> None:
    if call.json:
        call.message(point)
        return
    step = number_text(point.get("stepsCompleted") or 0)
    words = [
        f"run {point.get('run')}",
        str(point.get("group") or ""),
        f"step {step}",
        _values(point),
    ]
    call.line(printable("  ".join([*words, *(["superseded"] if point.get("superseded") else [])])))


def _values(point: dict[str, Any]) -> str:
    scalars = [f"{name}={number_text(one)}" for name, one in (point.get("metrics") or {}).items()]
    return " ".join([*scalars, *lines_of(point.get("others") or {})])


def list_checkpoints(call: Call) -> None:
    owner = call.given.owner
    kind = "trials" if "." in owner else "experiments"
    page = _rows(call, f"/api/v1/{kind}/{segment(owner)}/checkpoints")
    if call.json:
        call.message(page)
        return
    call.table(
        ["CHECKPOINT", "TRIAL", "STEPS", "STATE", "FILES", "BYTES", "COMPLETED"],
        [
            [
                str(item.get("uuid")),
                str(item.get("trial") or ""),
                number_text(item.get("stepsCompleted") or 0),
                state_word(item.get("state")),
                str(item.get("files") or 0),
                str(item.get("bytes") or 0),
                at_text(item.get("completedAtMs")),
            ]
            for item in page["items"]
        ],
    )


def describe_checkpoint(call: Call) -> None:
    found = call.api().get(f"/api/v1/checkpoints/{segment(call.given.checkpoint)}")
    if call.json:
        call.message(found)
        return
    call.fields(
        [
            ("checkpoint", str(found["uuid"])),
            ("trial", str(found.get("trial") or "")),
            ("run", str(found.get("run") or "")),
            ("steps", number_text(found.get("stepsCompleted") or 0)),
            ("state", state_word(found.get("state"))),
            ("reason", str(found.get("reason") or "")),
            ("completed", at_text(found.get("completedAtMs"))),
            ("metrics", " ".join(lines_of(found.get("metrics") or {}))),
        ]
    )
    files = found.get("manifest") or []
    rows = [[str(one["path"]), str(one.get("bytes") or 0), str(one["sha256"])] for one in files]
    call.table(["FILE", "BYTES", "SHA-256"], rows)


def download_checkpoint(call: Call) -> None:
    # A local import: most commands download nothing.
    from ..client._download import download_files

    given = call.given
    shown = given.folder or given.checkpoint
    _free(shown)
    download_files(call.api(), given.checkpoint, Path(shown), given.glob)
    call.note(f"downloaded to {shown}")


def export_model(call: Call) -> None:
    from ..client._models import Model

    given = call.given
    api = call.api()
    version = Model(api, {"name": given.model}).get_version(given.version)
    shown = given.folder or f"{version.model}-{version.number}"
    _free(shown)
    version.download(shown)
    if call.json:
        call.message(version.as_json())
    else:
        call.line(f"exported {version.model} version {version.number} to {shown}")


def _free(shown: str) -> None:
    folder = Path(shown)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{shown} has files already: name another folder.")


def _rows(call: Call, path: str) -> dict[str, Any]:
    given = call.given
    query = [("filter", given.filter), ("orderBy", given.sort)]
    return all_pages(call.api(), path, query, whole_number("--limit", given.limit, 1))
