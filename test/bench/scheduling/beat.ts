/**
 * The processor time of one beat of the scheduler: every agent reports, nothing has changed, and each gets its list. The
 * service as it runs, on a log and a bus in memory and on a clock that the benchmark drives; each agent has one run.
 */
import { agentReportSubject } from "@trainyard/bus";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { AllocationReportState } from "@trainyard/contracts/agent";
import { newEventId } from "@trainyard/event-log";
import {
  experimentCreated,
  runRequested,
  trialCreated,
  World,
} from "@trainyard/service-scheduler/testing";
import { atRest } from "@trainyard/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { slotsPerAgent } from "./workload.ts";

const note = "each agent has a run; with what it takes to decode reports and to encode lists";
const trialsPerCommit = 100;

export async function beats(context: BenchContext, scale: number): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const agents of [100, 1_000, 10_000]) {
    context.say(`a beat to ${agents} agents`);
    const bar = { id: `beat_cpu_${agents}`, unit: "ms", floor: null, goal: null };
    const taken = await beatsOf(agents / scale, context.size === "tiny" ? 2 : 8);
    results.push(costResult(bar, median(taken), null, note));
  }
  return results;
}

async function beatsOf(agents: number, count: number): Promise<readonly number[]> {
  await using world = await World.open();
  const reports = await reportsOf(world);
  await world.scheduler();
  for (let n = 0; n < agents; n += 1) await world.newAgent(`a${n}`, slotsPerAgent).start();
  await requestRuns(world, agents);
  while (world.agents.some(({ held }) => !isRunning([...held.values()]))) {
    await world.clock.advance(1_000);
  }
  // From here on they answer no list: the benchmark reports for them.
  for (const agent of world.agents) agent.deaf = true;
  const bus = world.hub.connect("agents");
  const taken: number[] = [];
  for (let beat = 0; beat <= count; beat += 1) {
    const bodies = [...reports].map(([subject, report]) => [subject, next(report, beat)] as const);
    const before = process.cpuUsage();
    for (const [subject, body] of bodies) bus.publish(subject, body);
    await world.clock.advance(1_000);
    const { user, system } = process.cpuUsage(before);
    // The first one does not count.
    if (beat > 0) taken.push((user + system) / 1_000);
  }
  return taken;
}

const isRunning = (held: readonly { readonly state: AllocationReportState }[]): boolean =>
  held.length > 0 && held.every(({ state }) => state === AllocationReportState.RUNNING);

/** The latest report of each agent, by its subject. */
async function reportsOf(world: World): Promise<ReadonlyMap<string, string>> {
  const reports = new Map<string, string>();
  const text = new TextDecoder();
  await world.hub.connect("listener").subscribe(agentReportSubject("*"), ({ subject, body }) => {
    reports.set(subject, text.decode(body));
  });
  return reports;
}

/** The same report, later. */
function next(report: string, beat: number): Uint8Array {
  const later = JSON.parse(report) as { sequence: number | string };
  later.sequence = Number(later.sequence) + 1 + beat;
  return new TextEncoder().encode(JSON.stringify(later));
}

/** One run of a whole agent for each agent. */
async function requestRuns(world: World, count: number): Promise<void> {
  await world.append("experiment-1", experimentCreated());
  for (let from = 1; from <= count; from += trialsPerCommit) {
    const numbers = Array.from(
      { length: Math.min(trialsPerCommit, count - from + 1) },
      (_, n) => from + n,
    );
    const writes = numbers.map((number) => ({
      stream: `trial-1.${number}`,
      expectedVersion: 0,
      events: eventsOf(`1.${number}`).map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    }));
    const meta = { source: "/trainyard/experiments", workspace: "", correlationid: "bench" };
    const rest = { causationid: "", authid: "", traceparent: "" };
    const request = { commitId: newEventId(), writes, guards: [], meta: { ...meta, ...rest } };
    const result = await world.experiments.append(request);
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
    await atRest();
  }
}

function eventsOf(trial: string): readonly AnyEvent[] {
  const resources = { slots: slotsPerAgent, singleAgent: true };
  return [trialCreated(trial), runRequested(`${trial}#1`, resources)];
}
