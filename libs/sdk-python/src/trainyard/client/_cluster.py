"""The queue and the cluster, with their fields as of the request: jobs, agents, pools, storages and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from ._api import Api, number_of, segment
from ._shown import Shown, text_of, time_of


class WaitingRun(NamedTuple):
    """A run of a job. ``agents`` has its place; it is empty while the run waits. Then ``reason`` (a code such as
    not_enough_free) and ``detail`` (the sentence) say why, ``limit`` which quota prevents it, ``starts_when`` what
    would let it start, ``ahead`` how many waiting runs are ahead, and ``blockers`` names some of the runs that hold
    its slots. Texts are empty if there is none.
    """

    run: str
    agents: list[str]
    reason: str
    detail: str
    limit: str
    starts_when: str
    ahead: int
    blockers: list[str]


class JobExplanation(NamedTuple):
    """The reasons why the runs of an experiment wait: at most 64 ``runs``, the waiting ones first. ``old``: the
    scheduler does not answer, and these are the reasons that it recorded last.
    """

    runs: list[WaitingRun]
    old: bool


class Job(Shown):
    """An experiment or a task in the queue of a pool: ``experiment`` (its number, or the task's id), ``pool``,
    ``workspace``, ``owner``, ``priority`` (1 to 99; lower is placed first), ``weight``, ``max_slots`` (0 for no
    limit), ``runs_waiting``, ``runs_placed``, ``slots_held``, ``slots_wanted``, ``slots_borrowed`` and
    ``jobs_ahead`` (jobs ahead of it).
    """

    _shown: ClassVar = (
        "experiment",
        "pool",
        "owner",
        "priority",
        "runs_placed",
        "runs_waiting",
        "slots_held",
        "slots_wanted",
        "jobs_ahead",
    )

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.experiment = str(message["job"])
        self.pool = text_of(message, "pool")
        self.workspace = text_of(message, "workspace")
        self.owner = text_of(message, "owner")
        self.priority = int(message.get("priority") or 0)
        self.weight = number_of(message.get("weight") or 0)
        self.max_slots = int(message.get("maxSlots") or 0)
        self.runs_waiting = int(message.get("runsWaiting") or 0)
        self.runs_placed = int(message.get("runsPlaced") or 0)
        self.slots_held = int(message.get("slotsHeld") or 0)
        self.slots_wanted = int(message.get("slotsWanted") or 0)
        self.slots_borrowed = int(message.get("slotsBorrowed") or 0)
        self.jobs_ahead = int(message.get("jobsAhead") or 0)

    def explain(self) -> JobExplanation:
        """Returns why the job's runs wait, and what would let them start."""
        return explain_job(self._api, self.experiment)


def explain_job(api: Api, experiment: str) -> JobExplanation:
    """Returns the explanation of an experiment's runs. See ``Experiment.explain``."""
    answer = api.get(f"/api/v1/jobs/{segment(experiment)}/explanation")
    runs = [
        WaitingRun(
            run=text_of(run, "run"),
            agents=[text_of(one, "agent") for one in run.get("placements") or []],
            reason=text_of(run, "reason"),
            detail=text_of(run, "detail"),
            limit=text_of(run, "limit"),
            starts_when=text_of(run, "startsWhen"),
            ahead=int(run.get("ahead") or 0),
            blockers=list(run.get("blockers") or []),
        )
        for run in answer.get("runs") or []
    ]
    return JobExplanation(runs, bool(answer.get("old")))


class Agent(Shown):
    """An agent: ``name``, ``pool``, ``state`` (CONNECTED, LOST or REMOVED), ``slots`` (the API's objects, each with
    ``id``, ``device``, ``name``, ``memoryBytes`` and the ``run`` that holds it), ``slots_total``, ``slots_free``,
    ``version``, ``labels``, ``not_placed`` (why it gets no runs; empty if it gets runs) and ``notices`` (sentences
    for the operator of its host).
    """

    _shown: ClassVar = ("name", "pool", "state", "slots_total", "slots_free", "not_placed")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.name = str(message["name"])
        self.pool = text_of(message, "pool")
        self.state = text_of(message, "state")
        self.slots: list[dict[str, Any]] = list(message.get("slots") or [])
        self.slots_total = len(self.slots)
        self.slots_free = sum(1 for slot in self.slots if not slot.get("run"))
        self.version = text_of(message, "version")
        self.labels: dict[str, str] = dict(message.get("labels") or {})
        self.not_placed = text_of(message, "notPlaced")
        self.notices: list[str] = list(message.get("notices") or [])


class Pool(Shown):
    """A pool of agents: ``name``, ``policy`` (priority, fair_share or round_robin), ``settings`` (the API's object,
    with every default), ``agents_known``, ``agents_present``, ``slots``, ``slots_free``, ``runs_waiting``,
    ``runs_placed`` and ``quotas`` (``workspace``, ``slots``, ``used``, ``borrowed``).
    """

    _shown: ClassVar = (
        "name",
        "policy",
        "agents_present",
        "slots",
        "slots_free",
        "runs_placed",
        "runs_waiting",
    )

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.name = str(message["name"])
        self.policy = text_of(message, "policy")
        self.settings: dict[str, Any] = dict(message.get("settings") or {})
        self.agents_known = int(message.get("agentsKnown") or 0)
        self.agents_present = int(message.get("agentsPresent") or 0)
        self.slots = int(message.get("slots") or 0)
        self.slots_free = int(message.get("slotsFree") or 0)
        self.runs_waiting = int(message.get("runsWaiting") or 0)
        self.runs_placed = int(message.get("runsPlaced") or 0)
        self.quotas: list[dict[str, Any]] = list(message.get("quotas") or [])


class Storage(Shown):
    """The checkpoints that were declared under one root: ``root``, ``storage_id`` (empty if they were declared
    without one), ``counts_as`` (the storage that they count as stored in; empty if unknown), ``checkpoints`` and
    ``condemned`` (their numbers), and ``held`` (why nothing is removed there; empty for no reason).
    """

    _shown: ClassVar = ("root", "storage_id", "checkpoints", "condemned", "held")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.root = text_of(message, "root")
        self.storage_id = text_of(message, "storageId")
        self.counts_as = text_of(message, "countsAs")
        self.checkpoints = int(message.get("checkpoints") or 0)
        self.condemned = int(message.get("condemned") or 0)
        self.held = text_of(message, "held")


class Token(Shown):
    """A token of the API, without its secret: ``id``, ``label``, ``owner`` (the name of its user), ``created_at_ms``,
    ``expires_at_ms`` and ``last_used_at_ms`` (milliseconds since 1970; None for never), ``revoked``, and what limits
    it: ``role`` (empty for none) and ``workspaces`` (empty for all).
    """

    _shown: ClassVar = ("id", "label", "owner", "created_at_ms", "expires_at_ms", "revoked")
    _shown_alone: ClassVar = ("role", "workspaces", "last_used_at_ms")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.id = str(message["id"])
        self.label = text_of(message, "label")
        self.owner = text_of(message, "owner")
        self.created_at_ms = time_of(message, "createdAtMs")
        self.expires_at_ms = time_of(message, "expiresAtMs")
        self.revoked = bool(message.get("revoked"))
        self.role = text_of(message, "role")
        self.workspaces: list[str] = list(message.get("workspaces") or [])
        self.last_used_at_ms = time_of(message, "lastUsedAtMs")
