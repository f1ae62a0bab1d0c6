/**
 * Placements through the scheduler's shell over a durable PostgreSQL: runs of one slot wait, agents join, and each run
 * ends as soon as it has started, so that its slot becomes free again. A placement is three commits: the grant, the
 * start and the end.
 */
import { encodeEvent } from "@trainyard/contracts";
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { createService } from "@trainyard/service-scheduler";
import {
  defaultSilence,
  experimentCreated,
  runRequested,
  ScriptedAgent,
  trialCreated,
} from "@trainyard/service-scheduler/testing";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { slotsPerAgent } from "./workload.ts";

const bar = { id: "place_durable", unit: "placements/s", floor: null, goal: null };
const agentCount = 16;
const trialsPerCommit = 100;
const meta = {
  source: "/trainyard/experiments",
  workspace: "",
  correlationid: "experiment-1",
  causationid: "",
  authid: "",
  traceparent: "",
};

export async function durable({ size, say }: BenchContext): Promise<BenchResult> {
  const runs = { tiny: 10, short: 1_000, full: 5_000 }[size];
  say(`${runs} placements on a durable log`);
  await using stage = await DatabaseStage.start("scheduler", { fsync: true });
  await stage.tell("experiment-1", experimentCreated());
  await requestRuns(stage, runs);
  const config = {
    postgresUrl: stage.variables["TRAINYARD_POSTGRES_URL"] ?? "",
    nats: { url: "" },
    http: { host: "127.0.0.1", port: 0 },
    logLevel: "silent",
    tokenKey: { id: "k1", secret: Buffer.alloc(32, 7) },
    ...defaultSilence,
  } as const;
  await using service = await createService(config, { bus: stage.hub.connect("scheduler") });
  await service.start();
  await until(async () => (await eventsOf(stage, "AllocationQueued")).count === runs);
  const agents = Array.from(
    { length: agentCount },
    (_, n) => new ScriptedAgent(`a${n}`, stage.hub.connect(`a${n}`), slotsPerAgent),
  );
  for (const agent of agents) await agent.start();
  const beat = setInterval(() => {
    for (const agent of agents) agent.report();
  }, 1_000);
  let placed = 0;
  const done = new Promise<void>((resolve) => {
    for (const agent of agents) {
      void endAll(agent, (ended) => {
        placed += ended;
        if (placed === runs) resolve();
      });
    }
  });
  await done;
  clearInterval(beat);
  const { count, overMs } = await eventsOf(stage, "AllocationGranted");
  const rate = count / (Math.max(1, overMs) / 1_000);
  const note = `${runs} runs of one slot on ${agentCount} agents, each ends when it has started`;
  return rateResult(bar, rate, null, note);
}

async function requestRuns(stage: DatabaseStage, count: number): Promise<void> {
  const connectionString = stage.url("ty_others");
  await using log = createPostgresLog({ connectionString });
  for (let from = 1; from <= count; from += trialsPerCommit) {
    const length = Math.min(trialsPerCommit, count - from + 1);
    const writes = Array.from({ length }, (_, n) => {
      const trial = `1.${from + n}`;
      const events = [trialCreated(trial), runRequested(`${trial}#1`)];
      return {
        stream: `trial-${trial}`,
        expectedVersion: 0,
        events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
      };
    });
    const result = await log.append({ commitId: newEventId(), writes, guards: [], meta });
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
  }
  await stage.relay();
}

/** Ends every run that starts on the agent. */
async function endAll(agent: ScriptedAgent, ended: (runs: number) => void): Promise<void> {
  const seen = new Set<string>();
  for (;;) {
    await agent.nextLaunch();
    const started = [...agent.held.keys()].filter((id) => !seen.has(id));
    for (const id of started) {
      seen.add(id);
      agent.end(id, { code: 0 });
    }
    ended(started.length);
  }
}

/** Counts the events of a type in the log, and the time from the first to the last. */
async function eventsOf(stage: DatabaseStage, name: string) {
  const [row] = await stage.sql<{ count: number; overMs: number }>(
    `select count(*)::int as count,
            coalesce(max(c.time_ms) - min(c.time_ms), 0)::int as "overMs"
     from log.events e join log.commits c on c.position = e.commit_position where e.type like $1`,
    [`%${name}%`],
  );
  if (row === undefined) throw new Error("a count has a row");
  return row;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
