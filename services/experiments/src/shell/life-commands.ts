/** The commands that continue experiments, restart trials and kill one trial. */
import type { Plain } from "@trainyard/contracts";
import type { ContinueExperiment } from "@trainyard/contracts/commands";
import {
  type Clock,
  isExperimentId,
  isRejection,
  parseTrialId,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import { accepted, type Executor, foldOf, type Work, type CommandTable } from "@trainyard/runtime";
import type { ExperimentCommand } from "../core/experiment/commands.ts";
import { refusedAsDeleted } from "../core/experiment/delete.ts";
import { experiments, trials } from "../streams.ts";
import { continueCommand, unlessSourceIsGone } from "./continuing.ts";

/** The time in which a deletion can be undone, and the clock that measures it. */
export type Grace = { readonly clock: Pick<Clock, "nowMs">; readonly deletionGraceMs: number };

export function lifeCommands(executor: Executor, { clock, deletionGraceMs }: Grace) {
  return {
    DeleteExperiment: async ({ experiment, reason }, { identity }) => {
      const graceEndMs = clock.nowMs() + deletionGraceMs;
      const wanted = { kind: "delete", graceEndMs, reason } as const;
      return accepted(await executor.execute(identity, (work) => change(work, experiment, wanted)));
    },
    UndeleteExperiment: async ({ experiment }, { identity }) => {
      const wanted = { kind: "undelete" } as const;
      return accepted(await executor.execute(identity, (work) => change(work, experiment, wanted)));
    },
    ContinueExperiment: async (request, { identity }) =>
      accepted(
        await executor.execute(identity, (work) => continueOne(work, request, identity.commitId)),
      ),
    RestartTrial: async ({ trial }, { identity }) =>
      accepted(await executor.execute(identity, (work) => restart(work, trial, identity.commitId))),
    KillTrial: async (request, { identity }) =>
      accepted(await executor.execute(identity, (work) => kill(work, request))),
  } satisfies Partial<CommandTable<"experiments">>;
}

async function change(
  work: Work,
  id: string,
  wanted: ExperimentCommand,
): Promise<Rejection | undefined> {
  if (!isExperimentId(id))
    return reject("experiment_not_found", `${shown(id)} is not the number of an experiment`);
  return named(`experiment ${id}`, await work.decide(experiments, id, wanted));
}

async function continueOne(
  work: Work,
  { experiment: id, maxTrials, maxLength, lengthUnit }: Plain<ContinueExperiment>,
  request: string,
): Promise<Rejection | undefined> {
  if (!isExperimentId(id)) {
    return reject("experiment_not_found", `${shown(id)} is not the number of an experiment`);
  }
  const wanted = await continueCommand(work, id, { maxTrials, maxLength, lengthUnit }, request);
  const decided = await work.decide(experiments, id, wanted);
  return named(`experiment ${id}`, await unlessSourceIsGone(work, id, decided));
}

async function restart(work: Work, id: string, request: string): Promise<Rejection | undefined> {
  const parts = parseTrialId(id);
  if (parts === null) return reject("trial_not_found", `${shown(id)} is not the number of a trial`);
  // The guard refuses the commit if the trial ends or restarts meanwhile.
  const trial = await work.guard(foldOf(trials), id);
  if (trial.status === "none") return reject("trial_not_found", `there is no trial ${id}`);
  const outcome = trial.status === "ended" ? (trial.end?.outcome ?? null) : null;
  const wanted = { kind: "restart_trial", request, number: parts.number, outcome } as const;
  const decided = await work.decide(experiments, parts.experiment, wanted);
  const kept = await unlessSourceIsGone(work, parts.experiment, decided, parts.number);
  return named(`trial ${id}`, kept);
}

async function kill(
  work: Work,
  { trial: id, reason }: { readonly trial: string; readonly reason: string },
): Promise<Rejection | undefined> {
  const parts = parseTrialId(id);
  if (parts === null) return reject("trial_not_found", `${shown(id)} is not the number of a trial`);
  const { deletion } = await work.load(foldOf(experiments), parts.experiment);
  if (deletion !== null) return refusedAsDeleted(deletion);
  return named(`trial ${id}`, await work.decide(trials, id, { kind: "kill", reason }));
}

function named(subject: string, decided: readonly unknown[] | Rejection): Rejection | undefined {
  if (!isRejection(decided)) return undefined;
  return { ...decided, detail: `${subject}: ${decided.detail}` };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
