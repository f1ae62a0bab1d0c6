/**
 * Jobs: experiments and tasks in the queues of the pools. Their list is folded from the scheduler's events; the
 * scheduler itself explains waiting runs and decides changes.
 */
import type { Rights } from "@trainyard/access";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Job } from "@trainyard/contracts/api";
import { isExperimentId, isTaskId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { comparison } from "../../read-model/core/lists/filter.ts";
import { jobList } from "../../read-model/core/lists/lists.ts";
import type { ExperimentDocument, TaskDocument } from "../../read-model/core/views/documents.ts";
import { readModelLimits } from "../../read-model/limits.ts";
import { anotherWorkspace } from "../rights/masks.ts";
import { inTurn } from "../in-turn.ts";
import { rowsPage } from "../lists.ts";
import { shownJob } from "../shown.ts";
import { maskedExplanation } from "./hidden-blockers.ts";
import { jobsAhead } from "./job-places.ts";

/**
 * The newest trials that are searched for waiting runs while the scheduler is unavailable, and the most runs shown.
 */
const explainedTrialsMax = 1_000;
const explainedRunsMax = 64;

export function jobHandlers(backend: Backend) {
  return {
    listJobs: (request, context) => listJobs(backend, request, context),
    explainJob: async ({ job }, context) => {
      try {
        const explained = await explaining(backend, [job], () =>
          backend.command("scheduler", "ExplainJob", { job }, context),
        );
        return await maskedExplanation(backend, context.rights, explained);
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 503) throw error;
        const old = await lastExplained(backend, job);
        if (old === null) throw error;
        return maskedExplanation(backend, context.rights, old);
      }
    },
    updateJob: (request, context) =>
      explaining(backend, [request.job], async () => {
        refuseTask(context.caller, request.job);
        const { priority, weight, maxSlots } = request;
        if (priority === undefined && weight === undefined && maxSlots === undefined) {
          throw new Problem(400, "invalid_request", "give a priority, a weight or max_slots");
        }
        const accepted = await backend.command("scheduler", "UpdateJob", request, context);
        return positionOf(backend, accepted);
      }),
    moveJob: (request, context) =>
      explaining(backend, [request.job, request.anchor], async () => {
        refuseTask(context.caller, request.job);
        if (request.job === request.anchor) {
          throw new Problem(400, "invalid_request", "job and anchor are the same job");
        }
        const accepted = await backend.command("scheduler", "MoveJob", request, context);
        return positionOf(backend, accepted);
      }),
  } satisfies Partial<UnaryHandlers>;
}

/** Throws a Problem of 403 if the run of a task would change the job of a task. */
function refuseTask(caller: Caller, job: string): void {
  if (caller.kind !== "user" || caller.run === null || !isTaskId(job)) return;
  const detail = `the run ${caller.run.allocation} may not change task ${job}`;
  throw new Problem(403, "not_your_task", detail);
}

async function listJobs(
  backend: Backend,
  { pool, pageSize, ...request }: RequestOf<"listJobs">,
  context: RequestContext,
): Promise<ReplyOf<"listJobs">> {
  const asked = { ...request, pageSize: pageSize === 0 ? readModelLimits.pageSizeMax : pageSize };
  const conditions = pool === "" ? [] : [comparison("pool", "=", pool)];
  const { items, ...page } = await rowsPage(backend, jobList, asked, { context, conditions });
  const { listQueries, pool: database } = backend.parts;
  const ahead = await inTurn(listQueries, context, () => jobsAhead(database, items));
  const { rights } = context;
  const shown = items.map((doc) =>
    withSeenWorkspace(rights, shownJob(doc, ahead.get(doc.job) ?? 0)),
  );
  return { ...page, ...(await backend.scheduler.age()), items: shown };
}

/** Hides the name of the workspace that a job has left. */
export function withSeenWorkspace(rights: Rights, job: Plain<Job>): Plain<Job> {
  const isSeen = rights.has("workspace_view", job.workspace);
  return isSeen ? job : { ...job, workspace: anotherWorkspace };
}

/** Returns the reasons that the scheduler recorded last for waiting runs; null if none are waiting. */
async function lastExplained(backend: Backend, job: string): Promise<ReplyOf<"explainJob"> | null> {
  const runs = (await membersOf(backend, job))
    .flatMap(({ runs }) => {
      const preemptions = runs.filter(({ whyEnded }) => whyEnded === "preempted").length;
      return runs.map((run) => ({ ...run, preemptions }));
    })
    .filter(({ state, waitsFor }) => state === "QUEUED" && waitsFor !== "")
    .sort((a, b) => a.requestedAtMs - b.requestedAtMs)
    .slice(0, explainedRunsMax)
    .map(({ id, requestedAtMs, preemptions, waitsFor, waitCode = "", waitLimit = "" }) => ({
      run: id,
      preemptions,
      queuedAtMs: requestedAtMs,
      placements: [],
      reason: waitCode,
      detail: waitsFor,
      limit: waitLimit,
      ahead: 0,
      blockers: [],
      startsWhen: "",
    }));
  return runs.length === 0 ? null : { runs, old: true };
}

/** Returns the newest trials of an experiment, or the task. */
async function membersOf(
  backend: Backend,
  job: string,
): Promise<readonly Pick<TaskDocument, "runs">[]> {
  const { documents, pool } = backend.parts;
  if (isTaskId(job)) return [await backend.get("task", job)];
  const newest = { parent: job, limit: explainedTrialsMax, newestFirst: true };
  return (await documents.list(pool, "trial", newest)).map(({ doc }) => doc);
}

function positionOf(backend: Backend, { position }: { readonly position: number }) {
  return { position: String(position || backend.position) };
}

/** Replaces the scheduler's answer about a job without waiting runs by one with the state of its experiment or task. */
async function explaining<Reply extends object>(
  backend: Backend,
  jobs: readonly string[],
  ask: () => Promise<Reply>,
): Promise<Reply> {
  for (const job of jobs) {
    if (!isExperimentId(job) && !isTaskId(job)) throw notFound("experiment", job);
  }
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Problem) || !absent.has(error.code)) throw error;
    for (const job of jobs) {
      const why = await absenceOf(backend, job);
      if (why !== null) throw new Problem(error.status, error.code, why);
    }
    throw error;
  }
}

const absent: ReadonlySet<string> = new Set([
  "not_found",
  "not_waiting",
  "experiment_ended",
  "experiment_not_found",
  "task_ended",
  "task_not_found",
]);

/** Returns why the job cannot have runs in the queue; null if it can. */
async function absenceOf(backend: Backend, job: string): Promise<string | null> {
  const kind = isTaskId(job) ? "task" : "experiment";
  const why = absence(await backend.get(kind, job));
  return why === null ? null : `${kind} ${job} ${why}`;
}

function absence({
  state,
  endedAtMs,
}: Pick<ExperimentDocument | TaskDocument, "state" | "endedAtMs">): string | null {
  if (endedAtMs !== undefined) return `has ended: it is ${state}`;
  return state === "PAUSED" ? "is paused, so none of its runs is in the queue" : null;
}
