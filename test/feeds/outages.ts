/**
 * Events flow while each part is killed, and is away. Readers that do not need the part get events meanwhile, and all
 * of them do afterwards.
 */
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { FeedsStage } from "./feeds-stage.ts";
import type { Reader } from "./reader.ts";

type Kind = Reader["kind"];
type Outcome = Awaited<ReturnType<Campaign["run"]>>;

/** The parts, with the kinds of readers that get events meanwhile; none where no event can be made. */
const parts = {
  pull: ["nats", "kafka", "webhook"],
  nats: ["pull", "kafka", "webhook"],
  kafka: ["pull", "nats", "webhook"],
  webhook: ["pull", "nats", "kafka"],
  feeds: ["pull"],
  relay: ["pull", "nats", "kafka", "webhook"],
  brokers: ["pull", "nats", "webhook"],
  gateway: [],
  postgres: [],
  "nats-server": [],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

export type Part = keyof typeof parts;
export const partsOfFeeds = Object.keys(parts) as readonly Part[];
type Trouble = { readonly part: Part; readonly awayMs: number };

export type OutageOptions = {
  readonly seed: number;
  readonly parts: readonly Part[];
  readonly awayMs: number;
  readonly eventsMin: number;
  readonly log: (line: string) => void;
};

const changesPerSecond = 100;
/** The time within which an event arrives while another part is away. */
const meanwhileMs = 30_000;
/** The time within which an event arrives after the part is back: pauses of at most 36 s, and a queue of events. */
const afterwardsMs = 120_000;
/** The third attempt of a webhook is made 5 to 6 minutes after the second. */
const endMs = 480_000;

export async function outages(options: OutageOptions): Promise<Outcome> {
  const { awayMs, eventsMin, log } = options;
  await using stage = await FeedsStage.start({ pull: 1, nats: 1, kafka: 1 }, changesPerSecond);
  const violations: string[] = [];
  const started = await stage.lacking(stage.readers, await stage.changes.mark(), afterwardsMs);
  violations.push(...started.map(({ name }) => `${name} got no event at first`));
  const troubles = troublesOf(options);
  for (const trouble of troubles) {
    const what = `${trouble.part} ${trouble.awayMs === 0 ? "killed" : `away for ${awayMs / 1_000} s`}`;
    const { found, sentence } = await strike(stage, trouble);
    log(`${what}: ${sentence}`);
    for (const one of found) log(`violation: ${one}`);
    violations.push(...found.map((one) => `${what}: ${one}`));
  }
  while (stage.changes.made < eventsMin) await delay(500);
  const { events, found } = await stage.end(endMs);
  violations.push(...found);
  return { violations, summary: `${events} events, ${troubles.length} troubles` };
}

async function strike(
  stage: FeedsStage,
  { part, awayMs }: Trouble,
): Promise<{ readonly found: readonly string[]; readonly sentence: string }> {
  const { changes, readers } = stage;
  const found: string[] = [];
  const { stop, start } = switchOf(stage, part);
  const before = changes.made;
  await stop();
  const backMs = performance.now() + awayMs;
  const served: readonly Kind[] = parts[part];
  if (awayMs > 0 && served.length > 0) {
    await delay(awayMs / 3);
    const meanwhile = readers.filter(({ kind }) => served.includes(kind));
    const lacking = await stage.lacking(meanwhile, await changes.mark(), meanwhileMs);
    found.push(...lacking.map(({ name }) => `${name} gets no events meanwhile`));
  }
  await delay(Math.max(0, backMs - performance.now()));
  await start();
  const startMs = performance.now();
  const lacking = await stage.lacking(readers, await changes.mark(), afterwardsMs);
  const tookMs = Math.round(performance.now() - startMs);
  found.push(...lacking.map(({ name }) => `${name} gets no events afterwards`));
  return {
    found,
    sentence: `${changes.made - before} changes; all readers had the next one after ${tookMs} ms`,
  };
}

type Switch = { readonly stop: () => Promise<void>; readonly start: () => Promise<void> };

function switchOf({ world, kafka, readers }: FeedsStage, part: Part): Switch {
  if (part === "brokers") {
    return { stop: async () => kafka.freeze(), start: async () => kafka.thaw() };
  }
  const own = readers.filter(({ kind }) => kind === part);
  if (own.length > 0) {
    const each = async (act: (reader: Reader) => Promise<void>): Promise<void> => {
      for (const one of own) await act(one);
    };
    return { stop: () => each((one) => one.stop()), start: () => each((one) => one.start()) };
  }
  const name = part === "nats-server" ? "nats" : part;
  return {
    stop: async () => void (await world.kill(name)),
    start: () => world.restart(name),
  };
}

/**
 * Each part but the brokers is killed and away: the mock brokers would lose all messages, so they are only frozen. What
 * a webhook's receiver missed twice comes minutes later, so its outage is the first trouble, and its kill the last.
 */
function troublesOf({ seed, parts: chosen, awayMs }: OutageOptions): readonly Trouble[] {
  const left = chosen.filter((part) => part !== "webhook");
  const rest = Array.from({ length: left.length }, (_, n) =>
    left.splice(drawInteger(seed, "parts", n, left.length), 1),
  );
  const webhook = chosen.filter((part) => part === "webhook");
  return [
    ...webhook.map((part) => ({ part, awayMs })),
    ...rest.flat().flatMap((part): readonly Trouble[] => {
      const away = { part, awayMs };
      return part === "brokers" ? [away] : [{ part, awayMs: 0 }, away];
    }),
    ...webhook.map((part) => ({ part, awayMs: 0 })),
  ];
}
