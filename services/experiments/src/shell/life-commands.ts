/** The commands that take experiments and trials up again, and that end one trial. */
import { type Plain } from "@trainyard/contracts";
import {
  type ContinueExperiment,
  ContinueExperimentSchema,
  KillTrialSchema,
  RestartTrialSchema,
} from "@trainyard/contracts/commands";
import { SearchCompletion } from "@trainyard/contracts/events";
import {
  isExperimentId,
  isRejection,
  parseTrialId,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import {
  AcceptedSchema,
  accepted,
  type CommandSpec,
  command,
  type Executor,
  foldOf,
  type Work,
} from "@trainyard/runtime";
import type { SearchState } from "../core/foreign/search.ts";
import { experiments, searches, trials } from "../streams.ts";

export function lifeCommands(executor: Executor): Readonly<Record<string, CommandSpec>> {
  return {
    ContinueExperiment: command(
      ContinueExperimentSchema,
      AcceptedSchema,
      async (request, { identity }) =>
        accepted(await executor.execute(identity, (work) => continueOne(work, request))),
    ),
    RestartTrial: command(RestartTrialSchema, AcceptedSchema, async ({ trial }, { identity }) =>
      accepted(await executor.execute(identity, (work) => restart(work, trial))),
    ),
    KillTrial: command(KillTrialSchema, AcceptedSchema, async (request, { identity }) =>
      accepted(await executor.execute(identity, (work) => kill(work, request))),
    ),
  };
}

async function continueOne(
  work: Work,
  { experiment: id, maxTrials, maxLength, lengthUnit }: Plain<ContinueExperiment>,
): Promise<Rejection | undefined> {
  if (!isExperimentId(id)) {
    return reject("experiment_not_found", `${shown(id)} is not the number of an experiment`);
  }
  const search = await work.load(searches, id);
  const decided = await work.decide(experiments, id, {
    kind: "continue",
    change: { maxTrials, maxLength, lengthUnit },
    isUnfinished: isUnfinished(search),
  });
  return named(`experiment ${id}`, decided);
}

/** Whether trials failed or were canceled, or the search was stopped before it had proposed all of them. */
function isUnfinished({ completed, lost, proposed, over }: SearchState): boolean {
  const isCut = completed === null || completed === SearchCompletion.CANCELED;
  return isCut || lost > 0 || proposed > over;
}

async function restart(work: Work, id: string): Promise<Rejection | undefined> {
  const parts = parseTrialId(id);
  if (parts === null) return reject("trial_not_found", `${shown(id)} is not a trial`);
  // It may end, or begin again, at this moment.
  const trial = await work.guard(foldOf(trials), id);
  if (trial.status === "none") return reject("trial_not_found", `there is no trial ${id}`);
  const outcome = trial.status === "ended" ? (trial.end?.outcome ?? null) : null;
  const wanted = { kind: "restart_trial", number: parts.number, outcome } as const;
  return named(`trial ${id}`, await work.decide(experiments, parts.experiment, wanted));
}

async function kill(
  work: Work,
  { trial: id, reason }: { readonly trial: string; readonly reason: string },
): Promise<Rejection | undefined> {
  if (parseTrialId(id) === null) return reject("trial_not_found", `${shown(id)} is not a trial`);
  return named(`trial ${id}`, await work.decide(trials, id, { kind: "kill", reason }));
}

function named(subject: string, decided: readonly unknown[] | Rejection): Rejection | undefined {
  if (!isRejection(decided)) return undefined;
  return { ...decided, detail: `${subject}: ${decided.detail}` };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
