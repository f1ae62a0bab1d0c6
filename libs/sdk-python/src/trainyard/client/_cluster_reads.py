"""The part of ``Client`` that reads trials, checkpoints, the queue and the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from ._api import Api, segment
from ._checkpoints import Checkpoint, get_checkpoint
from ._cluster import Agent, Job, Pool, Storage, Token
from ._comparison import Comparison, compare
from ._shown import Listing
from ._trials import Trial


class ClusterReads:
    """The calls that change nothing. See ``Client``."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def get_trial(self, trial: str) -> Trial:
        """Returns the trial with this id, such as ``"12.3"``."""
        return Trial(self._api, self._api.get(f"/api/v1/trials/{segment(trial)}"))

    def compare(self, sources: Sequence[str]) -> Comparison:
        """Returns up to 100 trials of any experiments, with the metrics that they share. A source is a trial
        (``"12.3"``), some trials (``"12.1-3.7"``), the best ones (``"12.best5"``) or all (``"12.all"``).
        """
        return compare(self._api, sources)

    def get_checkpoint(self, uuid: str) -> Checkpoint:
        """Returns the checkpoint with this UUID, or with its first eight digits."""
        return get_checkpoint(self._api, uuid)

    def list_jobs(self, pool: str = "", filter: str = "", order_by: str = "") -> Listing[Job]:
        """Returns the experiments with runs that wait or have a place, by default in the order of the queue: those
        of one ``pool`` or of all, that match ``filter``, such as ``"owner = ada and runs_waiting > 0"``.
        """
        query = [("pool", pool), ("filter", filter), ("order_by", order_by)]
        return Listing(Job(self._api, item) for item in self._api.pages("/api/v1/jobs", query))

    def list_agents(self, filter: str = "", order_by: str = "") -> Listing[Agent]:
        """Returns the agents that match ``filter``, such as ``"state = CONNECTED and free_slots > 0"``."""
        query = [("filter", filter), ("order_by", order_by)]
        return Listing(Agent(item) for item in self._api.pages("/api/v1/agents", query))

    def list_pools(self) -> Listing[Pool]:
        """Returns all pools, ordered by name."""
        items = self._api.get("/api/v1/pools").get("items") or []
        return Listing(Pool(item) for item in items)

    def list_storages(self) -> Listing[Storage]:
        """Returns the roots that checkpoints were declared under, and the storages that were seen there."""
        items = self._api.get("/api/v1/storages").get("items") or []
        return Listing(Storage(item) for item in items)

    def list_tokens(self) -> Listing[Token]:
        """Returns the tokens of the API, without their secrets."""
        return Listing(Token(item) for item in self._api.pages("/api/v1/tokens"))
