/** The facts about an experiment that retention needs: its configuration, when it ended, and whether it is deleted. */
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { type JsonObject, streamName } from "@trainyard/kernel";
import { streamEvents } from "./history/stream-events.ts";

export type ExperimentLife = {
  readonly config: JsonObject | undefined;
  /** Null while it runs, also after it was continued. */
  readonly endedMs: number | null;
  /** asked: it may be brought back as it was, so nothing of it is touched. done: it is deleted for good. */
  readonly deletion: "none" | "asked" | "done";
};

/** From its own stream, all of it: whatever was described or archived since comes after its end. */
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
