/**
 * Previews an experiment's deletion: its deleted and its remaining checkpoints, by the rules of the decisions. It
 * changes nothing.
 */
import type { Plain } from "@trainyard/contracts";
import type { DeletionPreview } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import { gcLimits } from "../limits.ts";
import { type ExplainDeps, readerOf } from "./explain.ts";
import { needOf } from "./needs.ts";
import { checkpoints, experiments } from "../streams.ts";

export async function previewDeletion(
  { executor, log, index }: ExplainDeps,
  experiment: string,
): Promise<Plain<DeletionPreview> | Rejection> {
  await index.view.reach(await log.head());
  const reader = readerOf(executor);
  const { exists } = await reader.load(experiments, experiment);
  if (!exists) return reject("experiment_not_found", `there is no experiment ${experiment}`);
  const there = await index.there(experiment);
  const kept: Plain<DeletionPreview>["held"][number][] = [];
  for (const checkpoint of there) {
    const why = await needOf(reader, index, checkpoint);
    if (why === null || kept.length === gcLimits.heldShown) continue;
    const { trial } = await reader.load(checkpoints, checkpoint);
    kept.push({ checkpoint, trial, why });
  }
  return { checkpoints: there.length, held: kept };
}
