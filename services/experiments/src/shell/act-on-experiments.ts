/** Applies one verb to several experiments in one commit. A refusal for one does not stop the others. */
import type { Plain } from "@trainyard/contracts";
import type {
  ActOnExperiments,
  ExperimentActedOn,
  ExperimentsActedOn,
} from "@trainyard/contracts/commands";
import { StopKind } from "@trainyard/contracts/events";
import { isExperimentId, isRejection, limits, type Rejection, reject } from "@trainyard/kernel";
import {
  type CommandContext,
  type CommitIdentity,
  type Executor,
  foldOf,
  type Work,
} from "@trainyard/runtime";
import type { ExperimentCommand } from "../core/experiment/commands.ts";
import { decideExperiment } from "../core/experiment/decide.ts";
import { continueCommand, unlessSourceIsGone } from "./continuing.ts";
import type { Grace } from "./life-commands.ts";
import { experiments } from "../streams.ts";

/** Makes the command of one verb to an experiment. */
type Wanted = (work: Work, id: string) => Promise<ExperimentCommand>;

const verbs: Readonly<Record<string, (reason: string, grace: Grace) => ExperimentCommand>> = {
  activate: () => ({ kind: "activate" }),
  pause: () => ({ kind: "pause" }),
  cancel: (reason) => ({ kind: "stop", stop: StopKind.CANCEL, reason }),
  kill: (reason) => ({ kind: "stop", stop: StopKind.KILL, reason }),
  archive: (reason) => ({ kind: "archive", reason }),
  unarchive: () => ({ kind: "unarchive" }),
  delete: (reason, { clock, deletionGraceMs }) => {
    const graceEndMs = clock.nowMs() + deletionGraceMs;
    return { kind: "delete", graceEndMs, reason };
  },
  undelete: () => ({ kind: "undelete" }),
};

type DecideEach = {
  readonly experiments: readonly string[];
  readonly wanted: Wanted;
  readonly dryRun: boolean;
};

export async function actOnExperiments(
  executor: Executor,
  { experiments: ids, verb, reason, dryRun }: Plain<ActOnExperiments>,
  { identity }: CommandContext,
  grace: Grace,
): Promise<Plain<ExperimentsActedOn> | Rejection> {
  const wanted = wantedBy(verb, reason, grace, identity.commitId);
  if (wanted === null) {
    const known = [...Object.keys(verbs), "continue"].join(", ");
    const shown = JSON.stringify(verb.slice(0, 80));
    return reject("invalid_request", `the verb must be one of ${known}, not ${shown}`);
  }
  return decideEach(executor, { experiments: ids, wanted, dryRun }, identity);
}

/** Returns the command of a verb; null for an unknown verb. */
function wantedBy(verb: string, reason: string, grace: Grace, request: string): Wanted | null {
  if (verb === "continue") return (work, id) => continueCommand(work, id, {}, request);
  const command = Object.hasOwn(verbs, verb) ? verbs[verb]?.(reason, grace) : undefined;
  return command === undefined ? null : async () => command;
}

/**
 * Decides one command for each experiment. `refuses` checks a common precondition, and rejects all of them together.
 */
export async function decideEach(
  executor: Executor,
  { experiments: ids, wanted, dryRun }: DecideEach,
  identity: CommitIdentity,
  refuses: (work: Work) => Promise<Rejection | null> = async () => null,
): Promise<Plain<ExperimentsActedOn> | Rejection> {
  const most = limits.writesPerAppendMax;
  if (ids.length > most || new Set(ids).size < ids.length) {
    return reject("invalid_request", `at most ${most} experiments may be named, each once`);
  }
  let items: readonly Plain<ExperimentActedOn>[] = [];
  const result = await executor.execute(identity, async (work) => {
    const refusal = await refuses(work);
    if (refusal !== null) return refusal;
    const decided: Plain<ExperimentActedOn>[] = [];
    for (const id of ids) decided.push(itemOf(id, await decide(work, id, wanted, dryRun)));
    items = decided;
    return undefined;
  });
  if (isRejection(result)) return result;
  if (dryRun) return { position: 0, items: [...items] };
  // The log returns the streams that the first attempt changed, also to a repeat.
  const changed = new Set(result.streams.map(({ stream }) => stream));
  const told = items.map((item) => ({
    ...item,
    changed: changed.has(`experiment-${item.experiment}`),
  }));
  return { position: result.position, items: told };
}

async function decide(
  work: Work,
  id: string,
  wanted: Wanted,
  dryRun: boolean,
): Promise<readonly unknown[] | Rejection> {
  if (!isExperimentId(id)) {
    return reject(
      "experiment_not_found",
      `${JSON.stringify(id.slice(0, 80))} is not the number of an experiment`,
    );
  }
  const command = await wanted(work, id);
  const state = await work.load(foldOf(experiments), id);
  // Decided on a preview first, so that a refused experiment leaves no event among the writes.
  const preview = decideExperiment(state, command);
  const decided =
    command.kind === "continue" ? await unlessSourceIsGone(work, id, preview) : preview;
  return dryRun || isRejection(decided) ? decided : work.decide(experiments, id, command);
}

function itemOf(
  experiment: string,
  decided: readonly unknown[] | Rejection,
): Plain<ExperimentActedOn> {
  if (!isRejection(decided)) {
    return { experiment, changed: decided.length > 0, code: "", detail: "" };
  }
  return { experiment, changed: false, code: decided.rejected, detail: decided.detail };
}
