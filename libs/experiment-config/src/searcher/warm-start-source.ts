/** The checkpoint from which each trial of an experiment starts, as its configuration names it. */
import { isMapping, type Json, type JsonObject, valueAt } from "../json.ts";

/** The user's input: a checkpoint, or a trial whose latest checkpoint is meant. */
export type NamedSource = { readonly trial: Json | undefined; readonly checkpoint: string };
/** The resolved source: trial and checkpoint are both known. */
export type WarmStartSource = { readonly trial: string; readonly checkpoint: string };

export function namedSource(config: object): NamedSource | null {
  const searcher = valueAt(config as JsonObject, "searcher");
  if (!isMapping(searcher)) return null;
  const trial = valueAt(searcher, "source_trial_id") ?? undefined;
  const checkpoint = valueAt(searcher, "source_checkpoint_uuid");
  const uuid = typeof checkpoint === "string" ? checkpoint : "";
  return trial === undefined && uuid === "" ? null : { trial, checkpoint: uuid };
}

/** Reads the source from a recorded configuration; null if the trials start without a checkpoint. */
export function recordedSource(struct: unknown): WarmStartSource | null {
  const named = isMapping(struct) ? namedSource(struct) : null;
  if (named === null || typeof named.trial !== "string" || named.checkpoint === "") return null;
  return { trial: named.trial, checkpoint: named.checkpoint };
}

/** Returns the configuration with the resolved source, to be recorded. */
export function withSource<Config extends { readonly searcher: object }>(
  config: Config,
  { trial, checkpoint }: WarmStartSource,
): Config {
  const source = { source_trial_id: trial, source_checkpoint_uuid: checkpoint };
  return { ...config, searcher: { ...config.searcher, ...source } };
}
