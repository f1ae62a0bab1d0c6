import { recordedConfig, recordedTask } from "@trainyard/experiment-config/recorded";
import { isExperimentId, isRejection, isTaskId, type Rejection, reject } from "@trainyard/kernel";
import type { Work, CommandTable } from "@trainyard/runtime";
import type { JobEvent } from "../core/pool/decide.ts";
import { explainJob } from "../core/pool/explain-job.ts";
import { jobsOf } from "../core/pool/job-info.ts";
import { jobName } from "../core/pool/job-name.ts";
import { moveOf } from "../core/pool/move-job.ts";
import { updateOf } from "../core/pool/update-job.ts";
import { limits } from "../limits.ts";
import { experimentCode, pools, taskWork } from "../streams.ts";
import { type CommandDeps, decided } from "./command-deps.ts";

export function jobCommands(deps: CommandDeps) {
  const { cluster } = deps.follower;
  return {
    UpdateJob: async (request, context) => {
      const { job } = request;
      const update = updateOf(request);
      if (isRejection(update)) return update;
      return decided(deps, context, jobName(job), async (work) => {
        const found = await poolOf(work, job);
        if (isRejection(found)) return found;
        const { pool } = found;
        return change(work, pool, updateOf(request, cluster.pool(pool).jobs.get(job)));
      });
    },
    MoveJob: async (request, context) => {
      const { job } = request;
      return decided(deps, context, jobName(job), async (work) => {
        const found = await poolOf(work, job);
        if (isRejection(found)) return found;
        const { pool } = found;
        return change(work, pool, moveOf(cluster, pool, request));
      });
    },
    GetJobs: async ({ pool }) => ({
      jobs: jobsOf(cluster, pool).slice(0, limits.jobsListedMax),
    }),
    ExplainJob: async ({ job }) => {
      await deps.follower.catchUp();
      return explainJob(cluster, job) ?? reject("not_found", noRuns(job));
    },
  } satisfies Partial<CommandTable<"scheduler">>;
}

function noRuns(job: string): string {
  return `no run of ${jobName(job)} waits or has a place`;
}

/** Returns the pool of an experiment or task that has not ended: the commit fails if it ends meanwhile. */
async function poolOf(work: Work, job: string): Promise<{ readonly pool: string } | Rejection> {
  if (isTaskId(job)) {
    const task = await work.guard(taskWork, job);
    if (task === null) return reject("task_not_found", "there is no such task");
    if (task.ended) return reject("task_ended", "the task has ended");
    return { pool: recordedTask(task.config, task.kind).resources.pool };
  }
  const experiment = isExperimentId(job) ? await work.guard(experimentCode, job) : null;
  if (experiment === null) return reject("experiment_not_found", "there is no such experiment");
  if (experiment.ended) return reject("experiment_ended", "the experiment has ended");
  return { pool: recordedConfig(experiment.config).resources.resource_pool };
}

async function change(work: Work, pool: string, events: readonly JobEvent[] | Rejection) {
  if (isRejection(events)) return events;
  return work.decide(pools, pool, { kind: "change_jobs", events });
}
