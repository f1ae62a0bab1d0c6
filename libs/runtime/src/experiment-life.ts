/** The facts about an experiment that retention needs: its configuration, its end, and its deletion. */
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { type JsonObject, streamName } from "@trainyard/kernel";
import { streamEvents } from "./history/stream-events.ts";

export type ExperimentLife = {
  readonly config: JsonObject | undefined;
  /** Null while the experiment runs, also after it was continued. */
  readonly endedMs: number | null;
  /** "asked": the experiment can still be restored, so nothing may be removed. "done": it is deleted for good. */
  readonly deletion: "none" | "asked" | "done";
};

/** Reads the whole stream of an experiment, because descriptions or archivings may follow its end. */
export async function experimentLife(log: EventLog, experiment: string): Promise<ExperimentLife> {
  let config: JsonObject | undefined;
  let endedMs: number | null = null;
  let deletion: ExperimentLife["deletion"] = "none";
  for await (const stored of streamEvents(log, streamName("experiment", experiment))) {
    const event = decodeEvent(stored);
    if (event.type === "ExperimentCreated") config = event.data.config;
    if (event.type === "ExperimentEnded") endedMs = stored.timeMs;
    if (event.type === "ExperimentContinued") endedMs = null;
    if (event.type === "ExperimentDeletionRequested") deletion = "asked";
    if (event.type === "ExperimentDeletionUndone") deletion = "none";
    if (event.type === "ExperimentDeleted") deletion = "done";
  }
  return { config, endedMs, deletion };
}
