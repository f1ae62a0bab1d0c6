"""The common parts of experiments, trials and tasks: their logs and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._api import Api
from ._checkpoints import Checkpoint, best_checkpoint
from ._logs import Time, ms_of, read_lines
from ._progress import Progress
from ._shown import Listing, Shown
from ._watch import LogLine, line_of


class Logged:
    """An object with log lines."""

    _api: Api

    def logs(
        self,
        follow: bool = False,
        *,
        head: int | None = None,
        tail: int | None = None,
        run: int | None = None,
        node_rank: int | None = None,
        rank: int | None = None,
        source: str = "",
        min_level: str = "",
        timestamp_after: Time = None,
        timestamp_before: Time = None,
        search_text: str = "",
        matches: str = "",
        words: str = "",
    ) -> Iterator[LogLine]:
        """Yields log lines in the order of storing; ``str(line)`` is the text of one.

        ``follow`` yields new lines, too, until the experiment, trial or task has ended. ``head`` and ``tail`` are the
        number of first or last lines. All other arguments are filters, and a line has to match each of them:
        ``run`` (its number), ``node_rank``, ``rank`` (of the process), ``source`` (stdout, stderr or agent),
        ``min_level`` (trace, debug, info, warning, error or critical), ``timestamp_after`` (from this time on) and
        ``timestamp_before`` (a datetime, an ISO 8601 text, or seconds since 1970), ``search_text`` (the line
        contains it), ``matches`` (a regular expression in RE2's syntax) and ``words`` (all are in the line, in
        either case).

        Raises ValueError for ``tail`` with ``head`` or ``follow``, and ApiError for a filter that the platform
        refuses. A broken connection is reopened; PlatformAwayError is raised if that fails for ``patience_s``
        seconds.
        """
        filters = {
            "run": run,
            "nodeRank": node_rank,
            "rank": rank,
            "source": source,
            "level": min_level.lower(),
            "fromMs": ms_of("timestamp_after", timestamp_after),
            "untilMs": ms_of("timestamp_before", timestamp_before),
            "contains": search_text,
            "matches": matches,
            "search": words,
        }
        lines = read_lines(self._api, self._path, filters, follow, head, tail, self._api.patience_s)
        return map(line_of, lines)

    @property
    def _path(self) -> str:
        raise NotImplementedError


class Task(Shown, Progress, Logged):
    """An experiment or a trial."""

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        Shown.__init__(self, message)
        Progress.__init__(self, message)
        self._api = api
        self.id = str(message["id"])

    def list_checkpoints(self, filter: str = "", order_by: str = "") -> Listing[Checkpoint]:
        """Returns the checkpoints that match ``filter``, such as ``"state = COMPLETED and bytes > 1e9"``.
        ``order_by`` is a field and asc or desc: ``"steps_completed desc"``. Raises ApiError ``invalid_filter`` when
        the list is read.
        """
        items = self._api.pages(
            f"{self._path}/checkpoints", [("filter", filter), ("order_by", order_by)]
        )
        return Listing(Checkpoint(self._api, item) for item in items)

    def top_checkpoint(
        self, sort_by: str | None = None, smaller_is_better: bool | None = None
    ) -> Checkpoint:
        """Returns the complete checkpoint with the best validation, by the searcher's metric, or by the metric
        ``sort_by`` with ``smaller_is_better`` (one request for each checkpoint). Raises NotFoundError if no
        checkpoint has a value of the metric, and ValueError if only one argument is given.
        """
        return best_checkpoint(self._api, self.id, sort_by, smaller_is_better)
