/** The time of a restarted searcher until its first decision on a search of 5,000 trials with 20 reports each. */
import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { createPostgresLog, type EventLog, newEventId } from "@trainyard/event-log";
import { FoldCache, machineFold, serviceMeta } from "@trainyard/runtime";
import { type SearchCommand, type SearchEvent, SearchMachine } from "@trainyard/search";
import { exampleOf } from "@trainyard/search/testing";
import { draw } from "@trainyard/kernel";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";

const aimMs = 1_000;
const reports = 20;
const concurrent = 64;
const perCommit = 500;
const stream = "search-1";
const meta = serviceMeta("searcher");

const searches = machineFold({
  name: "search",
  category: "search",
  create: () => new SearchMachine(),
  snapshot: {
    schema: "search",
    encode: (search: SearchMachine) => search.snapshot(),
    decode: (text) => SearchMachine.restored(text),
  },
});

export async function measureOpening({ size, say }: BenchContext): Promise<readonly BenchResult[]> {
  const trials = size === "tiny" ? 50 : 5_000;
  const rounds = { tiny: 1, short: 3, full: 7 }[size];
  say(`opening a search of ${trials} trials with ${reports} reports each`);
  await using stage = await DatabaseStage.start("searcher", { fsync: false });
  const url = stage.url("ty_searcher");
  await using log = createPostgresLog({ connectionString: url });
  await fill(log, eventsOf(trials));
  const fromEvents: number[] = [];
  for (let round = 0; round < rounds; round += 1) fromEvents.push(await opened(log, trials));
  await new FoldCache(log).saveSnapshot(searches, "1");
  const fromSnapshot: number[] = [];
  for (let round = 0; round < rounds; round += 1) fromSnapshot.push(await opened(log, trials));
  const bar = (id: string) => ({ id, unit: "ms", floor: null, goal: 1 });
  return [
    costResult(
      bar("open_5000x20_ms"),
      median(fromEvents),
      aimMs,
      "from its events; the aim beside it",
    ),
    costResult(
      bar("open_5000x20_snapshot_ms"),
      median(fromSnapshot),
      aimMs,
      "from its snapshot; the aim beside it",
    ),
  ];
}

/** The events of a random search in which all trials but the last few have ended. */
function eventsOf(trials: number): readonly SearchEvent[] {
  const { searcher, ...config } = exampleOf("random");
  const larger = { ...searcher, max_trials: trials, max_concurrent_trials: concurrent };
  const events: SearchEvent[] = [];
  const search = new SearchMachine();
  const send = (command: SearchCommand): void => {
    events.push(...(search.take(command) as readonly SearchEvent[]));
    search.keep();
  };
  send({
    type: "StartSearch",
    config: { ...config, searcher: larger as typeof searcher },
    seed: 1,
  });
  for (let trial = 1; trial <= trials; trial += 1) {
    for (let step = 1; step <= reports; step += 1) {
      const scalars = { loss: draw(1, "loss", trial * reports + step) };
      const run = { run: 1, currentRun: 1, step, measurement: newEventId() };
      send({ type: "RecordValidation", trial, ...run, scalars });
    }
    if (trial <= trials - concurrent) {
      send({ type: "RecordOutcome", trial, outcome: TrialOutcome.COMPLETED });
    }
  }
  return events;
}

async function fill(log: EventLog, events: readonly SearchEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += perCommit) {
    const some = events.slice(from, from + perCommit);
    const result = await log.append({
      commitId: newEventId(),
      writes: [
        {
          stream,
          expectedVersion: from,
          events: some.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
        },
      ],
      guards: [],
      meta,
    });
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
  }
}

/** Milliseconds until a new searcher without a snapshot has decided on the end of a trial. */
async function opened(log: EventLog, trials: number): Promise<number> {
  const startMs = performance.now();
  const command = {
    type: "RecordOutcome",
    trial: trials,
    outcome: TrialOutcome.COMPLETED,
  } as const;
  const { state } = await new FoldCache(log).load(searches, "1");
  const decided = state.committed().decide(command) as readonly SearchEvent[];
  if (decided.length === 0) throw new Error("the search decides on the end of a trial");
  for (const event of decided) decodeEvent(encodeEvent(event));
  return performance.now() - startMs;
}
