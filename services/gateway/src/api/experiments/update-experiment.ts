/**
 * PATCH of an experiment. Three services decide its fields: experiments has name and notes, the scheduler has the place
 * in the queue, checkpoint-gc has the retention. A request may change fields of one service only, so that it is done or
 * refused as a whole.
 */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { isExperimentId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { revisionOf } from "../../http/etag.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { jobHandlers } from "../jobs/jobs.ts";
import { requireFor } from "../rights/guard.ts";
import { findObject } from "../rights/objects.ts";
import { retentionHandlers } from "../retention/retention.ts";
import { shownExperiment } from "../shown.ts";

type Update = RequestOf<"updateExperiment">;

export async function updateExperiment(
  backend: Backend,
  update: Update,
  context: RequestContext,
): Promise<ReplyOf<"updateExperiment">> {
  const { experiment } = update;
  if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
  const position = await changed(backend, update, context);
  await backend.reach(position);
  const doc = await backend.get("experiment", experiment);
  return {
    position: String(position || backend.position),
    experiment: shownExperiment(doc, await backend.configOf(doc.id)),
  };
}

/** Returns the position of the change; 0 if nothing had to change. */
async function changed(backend: Backend, update: Update, context: RequestContext): Promise<number> {
  const { experiment, gcPolicy } = update;
  const part = onlyPartOf(update);
  if (part === "words") return describe(backend, update, context);
  if (context.ifMatch !== undefined) {
    const detail = "If-Match is only for name, description, notes and labels: leave it out";
    throw new Problem(400, "invalid_request", detail);
  }
  // Everybody who edits an experiment changes its words. The others have calls of their own, with this permission.
  await requireControl(backend, experiment, context);
  if (part === "queue") {
    const { priority, weight, maxSlots } = update;
    const asked = { job: experiment, priority, weight, maxSlots };
    return Number((await jobHandlers(backend).updateJob(asked, context)).position);
  }
  const zero = { saveExperimentBest: 0, saveTrialBest: 0, saveTrialLatest: 0 };
  const asked = { experiment, ...zero, ...gcPolicy, reason: update.reason };
  return Number((await retentionHandlers(backend).setRetentionPolicy(asked, context)).position);
}

async function requireControl(
  backend: Backend,
  experiment: string,
  { rights }: RequestContext,
): Promise<void> {
  if (rights.everywhere("experiment_control")) return;
  const found = await findObject(backend, "experiment", experiment);
  requireFor(rights, "experiment_control", "experiment", experiment, found);
}

async function describe(
  backend: Backend,
  { experiment, name, description, notes, addLabels, removeLabels }: Update,
  context: RequestContext,
): Promise<number> {
  const ifRevision = revisionOf(context.ifMatch);
  const words = { name, description, notes, addLabels, removeLabels };
  const { position } = await backend.command(
    "experiments",
    "DescribeExperiment",
    { experiment, ...words, ifRevision },
    context,
  );
  return position;
}

type Part = "words" | "queue" | "retention";

function onlyPartOf(update: Update): Part {
  const { name, description, notes, addLabels, removeLabels } = update;
  const { priority, weight, maxSlots, gcPolicy } = update;
  const given = (...values: readonly unknown[]) => values.some((value) => value !== undefined);
  const labelled = addLabels.length + removeLabels.length > 0;
  const parts: readonly (readonly [Part, boolean])[] = [
    ["words", labelled || given(name, description, notes)],
    ["queue", given(priority, weight, maxSlots)],
    ["retention", given(gcPolicy)],
  ];
  const [only, ...more] = parts.flatMap(([part, isGiven]) => (isGiven ? [part] : []));
  if (only !== undefined && more.length === 0) return only;
  const detail =
    only === undefined
      ? "give name, description, notes or labels, or priority, weight or max_slots, or gc_policy"
      : "change either the words (name, description, notes, labels), or the queue (priority, weight, max_slots), or gc_policy: one of the three in a request";
  throw new Problem(400, "invalid_request", detail);
}
