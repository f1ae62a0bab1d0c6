import { decodeEvent } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import {
  EarlierReader,
  type EarlierTrial,
  type EarlierTrials,
  type SearchEvent,
  type StartSearch,
} from "@trainyard/search";
import { limits } from "../limits.ts";

/**
 * Returns the results of the experiments that a configuration names, from their searches' events in the log. They are
 * read once, at the start, and the search records those that it uses. A search that is missing, or has another
 * objective, has no results. Undefined if no experiment is named.
 */
export async function earlierTrials(
  log: EventLog,
  { searcher }: StartSearch["config"],
): Promise<EarlierTrials | undefined> {
  const experiments = searcher.warm_start?.experiments;
  if (experiments === undefined) return undefined;
  const trials: EarlierTrial[] = [];
  let left: number = limits.earlierEventsMax;
  for (const experiment of new Set(experiments)) {
    const reader = new EarlierReader(String(experiment), searcher);
    left = await readInto(reader, log, String(experiment), left);
    trials.push(...reader.trials());
  }
  return { trials, leftOut: 0 };
}

/** Reads the events of one search. Returns how many events may still be read. */
async function readInto(
  reader: EarlierReader,
  log: EventLog,
  experiment: string,
  most: number,
): Promise<number> {
  const stream = streamName("search", experiment);
  let left = most;
  for (let version = 0; left > 0; ) {
    const page = await log.read(stream, version, Math.min(left, limits.pageEvents));
    for (const stored of page) reader.read(decodeEvent(stored) as SearchEvent);
    left -= page.length;
    const last = page.at(-1);
    if (last === undefined) break;
    version = last.version;
  }
  return left;
}
