/**
 * Explains to people which rankings and references keep or condemn checkpoints. It applies the rules of the decisions
 * and changes nothing.
 */
import type { Plain } from "@trainyard/contracts";
import type {
  ExplainRetention,
  RetentionPage,
  RetentionVerdict,
} from "@trainyard/contracts/commands";
import type { EventLog } from "@trainyard/event-log";
import { type Rejection, reject, streamName } from "@trainyard/kernel";
import { type Executor, foldOf } from "@trainyard/runtime";
import { type Candidate, type Standing, standings } from "../core/retention-rule/condemned.ts";
import { referencesChecked } from "../core/retention-rule/references.ts";
import { gcLimits } from "../limits.ts";
import { withHold } from "./held-verdicts.ts";
import type { CheckpointIndex, ShownRow } from "./index-view.ts";
import type { LogTime } from "./log-time.ts";
import { policyOf } from "./condemn-by-policy.ts";
import { needsOf, type Reader } from "./needs.ts";
import { savesPolicy } from "./saves.ts";
import { checkpoints, experiments, retentions } from "../streams.ts";

export type ExplainDeps = {
  readonly executor: Executor;
  readonly log: EventLog;
  readonly index: CheckpointIndex;
  readonly time: LogTime;
};

export async function explain(
  { executor, log, index, time }: ExplainDeps,
  { experiment, checkpoint, limit, after, policy: asked }: Plain<ExplainRetention>,
): Promise<Plain<RetentionPage> | Rejection> {
  await index.view.reach(await log.head());
  const reader = readerOf(executor);
  if (experiment === "") return explainOther(reader, log, index, checkpoint);
  const { exists, metric, smallerIsBetter } = await reader.load(experiments, experiment);
  if (!exists) return reject("experiment_not_found", `there is no experiment ${experiment}`);
  const policy = asked ?? (await policyOf(reader, experiment));
  await time.look();
  const candidates = await index.candidates(experiment, metric, time.nowMs());
  const ranked = standings(candidates, policy, smallerIsBetter);
  const values = new Map(candidates.map((one) => [one.checkpoint, one]));
  const most = Math.min(limit === 0 ? gcLimits.page : limit, gcLimits.page);
  const rows = await index.shown(experiment, checkpoint, after, most + 1);
  const verdicts: Plain<RetentionVerdict>[] = [];
  for (const row of rows.slice(0, most)) {
    const { checkpoint: id } = row;
    verdicts.push(await verdictOf(reader, index, row, ranked.get(id), values.get(id)));
  }
  return { verdicts: await withHold(log, verdicts), more: rows.length > most, policy };
}

/**
 * Explains a save of a task, which competes with those of its task, or a folder that a person uploaded, which no policy
 * judges.
 */
async function explainOther(
  reader: Reader,
  log: EventLog,
  index: CheckpointIndex,
  checkpoint: string,
): Promise<Plain<RetentionPage>> {
  const { task } = await reader.load(checkpoints, checkpoint);
  const ranked = standings(task === "" ? [] : await index.saves(task), savesPolicy, true);
  const verdicts: Plain<RetentionVerdict>[] = [];
  for (const row of await index.shown(task, checkpoint, "", 1)) {
    const verdict = await verdictOf(reader, index, row, ranked.get(checkpoint), undefined);
    verdicts.push(task === "" ? uploaded(verdict) : verdict);
  }
  return { verdicts: await withHold(log, verdicts), more: false };
}

function uploaded(verdict: Plain<RetentionVerdict>): Plain<RetentionVerdict> {
  const keptBy = verdict.by === "" ? [...verdict.keptBy, uploadedReason] : verdict.keptBy;
  return { ...verdict, keptBy, keeps: keptBy.length > 0 };
}

const uploadedReason = "it was uploaded from a folder: only a person deletes it";

async function verdictOf(
  reader: Reader,
  index: CheckpointIndex,
  { checkpoint, trial, step, why }: ShownRow,
  standing: Standing | undefined,
  candidate: Candidate | undefined,
): Promise<Plain<RetentionVerdict>> {
  const { status, by, reason, graceEndMs, globs } = await reader.load(
    foldOf(retentions),
    checkpoint,
  );
  const { damaged } = await reader.load(checkpoints, checkpoint);
  const there = status === "kept" || status === "condemned";
  const keptBy: string[] = [];
  if (there) {
    for await (const need of needsOf(reader, index, checkpoint)) keptBy.push(need);
    keptBy.push(...(standing?.keptBy ?? []));
    if (damaged && by === "") keptBy.push("it is damaged: only a person deletes it");
    if (globs.length > 0 && by === "") {
      keptBy.push("some of its files were deleted: only a person deletes the others");
    }
  }
  const value = candidate?.value ?? null;
  return {
    checkpoint,
    trial,
    step,
    ...(value === null ? {} : { value }),
    state: status,
    keeps: keptBy.length > 0,
    keptBy,
    competitors: [...(standing?.competitors ?? [])],
    referencesChecked: [...referencesChecked],
    ...(status === "condemned" ? { graceEndMs } : {}),
    by,
    reason,
    waits: why,
  };
}

/**
 * Reads states without guards, because nothing is decided on them. Without a guard a cached state may be older than the
 * request, so each stream is read from the log once.
 */
export function readerOf({ cache }: Executor): Reader {
  const read = new Set<string>();
  const load: Reader["load"] = async (fold, id) => {
    const stream = streamName(fold.category, id);
    if (!read.has(stream)) cache.forget(stream);
    read.add(stream);
    return (await cache.load(fold, id)).state;
  };
  return { load, guard: load };
}
