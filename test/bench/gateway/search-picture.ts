/**
 * The picture of a search of 1,000 trials by the API: at earlier versions, read from the first event, and the latest
 * one again.
 */
import type { Client } from "@trainyard/client";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { recordedSearch } from "@trainyard/search/testing";
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { percentile } from "../support/measure.ts";

const eventsPerCommit = 500;
const meta = {
  source: "/bench",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

/** An experiment of the bench's data without a search. */
const experiment = "3";

export const pictureBar = {
  id: "search_picture_1000_trials_ms",
  unit: "ms",
  floor: null,
  goal: null,
};

export async function searchPicture(
  context: BenchContext,
  client: Client,
  url: string,
): Promise<BenchResult> {
  const trials = context.size === "tiny" ? 50 : 1_000;
  const rounds = { tiny: 2, short: 15, full: 50 }[context.size];
  const events = await record(url, trials);
  const took = async (version: number): Promise<number> => {
    const start = performance.now();
    const picture = await client.call("getSearchPicture", { experiment, version });
    if (picture.trials.length !== trials) {
      throw new Error(`the picture has ${picture.trials.length} trials instead of ${trials}`);
    }
    return performance.now() - start;
  };
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // Each round asks for an earlier version, so that the gateway's cached state is of no use.
    const ms = await took(events - round);
    if (round > 0) first.push(ms);
  }
  for (let round = 0; round < rounds; round += 1) again.push(await took(0));
  const latest = percentile(again.slice(1), 0.5).toFixed(0);
  return {
    ...pictureBar,
    value: percentile(first, 0.95),
    baseline: null,
    ratio: null,
    note: `p95 at an earlier version, ${events} events of ASHA; the latest once more: median ${latest} ms`,
  };
}

/** Records the search and returns the number of its events. */
async function record(url: string, trials: number): Promise<number> {
  const { events } = recordedSearch(
    {
      name: "asha",
      metric: "loss",
      smaller_is_better: true,
      max_trials: trials,
      max_time: 9,
      min_time: 1,
      divisor: 3,
      time_metric: "",
      max_concurrent_trials: 16,
      resume: true,
    },
    16,
  );
  await using log = createPostgresLog({ connectionString: url });
  for (let from = 0; from < events.length; from += eventsPerCommit) {
    const some = events.slice(from, from + eventsPerCommit);
    const result = await log.append({
      commitId: newEventId(),
      writes: [
        {
          stream: `search-${experiment}`,
          expectedVersion: from,
          events: some.map((event) => ({ id: newEventId(), ...encodeEvent(event as AnyEvent) })),
        },
      ],
      guards: [],
      meta,
    });
    if (result.kind !== "committed") throw new Error(`append refused: ${JSON.stringify(result)}`);
  }
  return events.length;
}
