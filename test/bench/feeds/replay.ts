/** The events of one experiment, spread over a large log beside a small one, read again through a real gateway. */
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { startTestPostgres } from "@trainyard/testing";
import { appendNew } from "../gateway/experiments.ts";
import { fillLog } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import {
  createGatewayDatabase,
  openGateway,
  type OpenGateway,
  untilFolded,
} from "../support/gateway.ts";
import { withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";
import { replayed } from "./subscriber.ts";

const bar = { id: "filtered_replay_flatness", unit: "replays/s", floor: null, goal: 0.5 };

export const ids = [bar.id];

const experiment = "7";
const streamsOfExperiment = 20;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const [few, many] = context.size === "tiny" ? [1_000, 2_000] : [10_000, 1_000_000];
  const own = context.size === "tiny" ? 100 : 1_000;
  const forMs = { tiny: 50, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  const open = async (events: number): Promise<OpenGateway> => {
    const database = `of_${events}`;
    const url = await createGatewayDatabase(postgres, database);
    await using log = createPostgresLog({ connectionString: url });
    context.say(`filling a log with ${events} events`);
    await fill(log, events, own);
    const gateway = await openGateway(stack, postgres, database);
    await withClient(url, (client) => client.query("vacuum analyze"));
    context.say("folding it");
    await untilFolded(async () => (await gateway.client.call("listAgents", {})).items.length === 0);
    return gateway;
  };
  const [small, large] = [await open(few), await open(many)];
  const measure = (gateway: OpenGateway) => () =>
    callsPerSecond(1, forMs, async () => {
      const count = await replayed(gateway, { experiment });
      if (count !== own) throw new Error(`${count} events of ${own}`);
    });
  const [ofSmall, ofLarge] = await interleave(
    [
      { name: `a log of ${few}`, round: measure(small) },
      { name: `a log of ${many}`, round: measure(large) },
    ],
    rounds,
    context,
  );
  const note = `an experiment of ${own} events in a log of ${many} beside one of ${few}, one caller`;
  return [rateResult(bar, ofLarge, ofSmall, note)];
}

/** Fills a log with events of other experiments, and the own events of the experiment at equal distances. */
async function fill(log: EventLog, events: number, own: number): Promise<void> {
  const streams = new Streams();
  for (let part = 1; part <= streamsOfExperiment; part += 1) {
    await fillLog(
      log,
      streams,
      (events * part) / streamsOfExperiment - own / streamsOfExperiment,
      100,
    );
    await appendNew(log, [
      { stream: `measurement-${experiment}.${part}`, events: ownEvents(part, own) },
    ]);
  }
}

const ownEvents = (part: number, own: number) =>
  Array.from({ length: own / streamsOfExperiment }, (_, step) => ({
    type: "ValidationReported" as const,
    data: {
      ...{ trial: `${experiment}.${part}`, run: 1, step, reportKey: `0-${step}` },
      ...{ scalars: { validation_loss: 0.25, validation_accuracy: 0.9171 }, nonNumeric: [] },
    },
  }));
