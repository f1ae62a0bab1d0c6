/**
 * Finds the checkpoint that an experiment's trials start from. If the configuration names only a trial, it is the
 * trial's latest.
 */
import { type NormalisedConfig, namedSource, withSource } from "@trainyard/experiment-config";
import { parseTrialId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { comparison } from "../../read-model/core/lists/filter.ts";
import { checkpointList } from "../../read-model/core/lists/lists.ts";
import { isSeenBy } from "../rights/objects.ts";
import type { CheckpointDocument } from "../../read-model/core/views/documents.ts";
import { type ListScope, rowsPage, wholeList } from "../lists.ts";
import { wholeCheckpointId } from "../short-checkpoint-ids.ts";

/** Returns the configuration with the checkpoint and its trial, as it is recorded; unchanged if it names neither. */
export async function resolveSource(
  backend: Backend,
  config: NormalisedConfig,
  context: RequestContext,
): Promise<NormalisedConfig> {
  const named = namedSource(config);
  if (named === null) return config;
  const { checkpoint } = named;
  const found =
    checkpoint === ""
      ? await latestOf(backend, named.trial, context)
      : await theOne(backend, checkpoint, named.trial, context);
  return withSource(config, { trial: found.trial, checkpoint: found.uuid });
}

async function theOne(
  backend: Backend,
  written: string,
  trial: unknown,
  { rights }: RequestContext,
): Promise<CheckpointDocument> {
  const path = "searcher.source_checkpoint_uuid";
  const checkpoint = await wholeCheckpointId(backend, written, rights);
  const found = (await isSeenBy(rights, backend, "checkpoint", checkpoint))
    ? await backend.find("checkpoint", checkpoint)
    : undefined;
  if (found === undefined) throw refusal(path, `is ${checkpoint}, and there is no such checkpoint`);
  if (found.state !== "COMPLETED") {
    throw refusal(path, `is ${checkpoint}, which cannot be started from: it is ${found.state}`);
  }
  if (found.task !== undefined) {
    throw refusal(path, `is ${checkpoint}, which is of ${originText(found)}: it has no weights`);
  }
  // A folder that a person uploaded belongs to no experiment.
  const { experiment } = found;
  if (experiment !== "" && (await backend.find("experiment", experiment)) === undefined) {
    throw refusal(path, `is ${checkpoint}, whose experiment ${found.experiment} is deleted`);
  }
  if (trial === undefined || trial === found.trial) return found;
  const detail = `is ${JSON.stringify(trial)}, and checkpoint ${checkpoint} is of ${originText(found)}`;
  throw refusal("searcher.source_trial_id", detail);
}

/** Returns the origin of a checkpoint as the end of a sentence. */
export function originText({ trial, task, uploadedBy }: CheckpointDocument): string {
  if (task !== undefined) return `the folder of task ${task}`;
  return uploadedBy === undefined ? `trial ${trial}` : `a folder that ${uploadedBy} uploaded`;
}

async function latestOf(
  backend: Backend,
  trial: unknown,
  context: RequestContext,
): Promise<CheckpointDocument> {
  const path = "searcher.source_trial_id";
  const parts = typeof trial === "string" ? parseTrialId(trial) : null;
  if (typeof trial !== "string" || parts === null) {
    const shown = JSON.stringify(trial);
    throw refusal(path, `is ${shown}: write the trial's id in quotes, as "12.3"`);
  }
  const isThere = await isSeenBy(context.rights, backend, "trial", trial);
  if (!isThere || (await backend.find("trial", trial)) === undefined) {
    throw refusal(path, `is ${trial}, and there is no such trial`);
  }
  let latest: CheckpointDocument | undefined;
  const scope = { context, scope: parts.experiment };
  for await (const one of completeCheckpoints(backend, scope, trial)) {
    const later = latest === undefined || one.run > latest.run;
    const further = one.run === latest?.run && one.stepsCompleted >= latest.stepsCompleted;
    if (later || further) latest = one;
  }
  if (latest !== undefined) return latest;
  throw refusal(path, `is ${trial}, which has no complete checkpoint`);
}

async function* completeCheckpoints(
  backend: Backend,
  scope: ListScope,
  trial: string,
): AsyncGenerator<CheckpointDocument> {
  const conditions = [comparison("trial", "=", trial), comparison("state", "=", "COMPLETED")];
  for (let pageToken = ""; ; ) {
    const asked = { ...wholeList, pageToken };
    const page = await rowsPage(backend, checkpointList, asked, { ...scope, conditions });
    yield* page.items;
    pageToken = page.nextPageToken;
    if (pageToken === "") return;
  }
}

function refusal(path: string, detail: string): Problem {
  const problems = [{ path, detail }];
  return new Problem(400, "invalid_config", `the configuration is not valid: ${path} ${detail}`, {
    problems,
  });
}
