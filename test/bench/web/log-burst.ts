/** Long tasks of the page while its log view follows a run that writes 5,000 lines per second. */
import type { ReplyOf } from "@trainyard/contracts";
import type { Page } from "playwright-core";
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { type Browsers, mainThread, signedIn, tasksDuring } from "./browser.ts";
import { type Replay, type ReplayStream, startRelay } from "./relay.ts";
import type { Running } from "./running.ts";

const linesPerSecond = 5_000;
/** The interval at which the service announces a live copy of a run's lines. */
const burstMs = 50;
const longMs = 100;
const id = "log_burst_longtasks";

type Line = ReplyOf<"followTrialLogs">;

/** A script for the page that records long tasks. */
const noteLongTasks = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  }).observe({ type: "longtask" });
`;

/**
 * A relay sends the lines in the wire's form and at the run's pace, so that the cluster does not use the page's cores.
 */
export async function logBurst(
  context: BenchContext,
  browsers: Browsers,
  { api, token, experiment }: Running,
): Promise<readonly BenchResult[]> {
  if (!context.wants(id)) return [];
  const seconds = { tiny: 0.2, short: 25, full: 120 }[context.size];
  const feed = new Feed(`${experiment}.1`);
  await using stack = new AsyncDisposableStack();
  const relay = stack.use(await startRelay(api, feed));
  const browser = await browsers.open(stack);
  const own = await signedIn(stack, browser, relay.address, token);
  const page = await own.newPage();
  await page.goto(`${relay.address}/trials/${experiment}.1?tab=logs`);
  await page.getByText("Following", { exact: true }).waitFor();
  // The first seconds are not counted, since the code is compiled then.
  await feed.write(Math.min(3, seconds));
  await shows(page, feed.last);
  const used = await mainThread(page);
  await page.evaluate(noteLongTasks);
  const before = await used();
  let lagMs = Number.NaN;
  const [longestCpu = 0] = await tasksDuring(page, async () => {
    await feed.write(seconds);
    const sentAt = performance.now();
    await shows(page, feed.last);
    lagMs = performance.now() - sentAt;
  });
  const busy = ((await used()).taskMs - before.taskMs) / (1_000 * seconds);
  const tasks = await page.evaluate<readonly number[]>("globalThis.longTasks");
  const longest = Math.max(0, ...tasks);
  const long = tasks.filter((ms) => ms > longMs).length;
  const note = `tasks over ${longMs} ms in ${seconds} s; aim: none. ${tasks.length} over 50 ms, the longest ${longest.toFixed(0)} ms, of processor time ${longestCpu.toFixed(0)} ms; the main thread is ${(100 * busy).toFixed(0)} % busy, the last line shown ${lagMs.toFixed(0)} ms after it was sent. ${linesPerSecond} lines/s come from a server that speaks the wire of FollowTrialLogs`;
  return [
    {
      id,
      unit: "tasks",
      value: long,
      baseline: null,
      ratio: null,
      floor: null,
      goal: null,
      note,
    },
  ];
}

async function shows(page: Page, number: number): Promise<void> {
  await page.getByText(`line ${number} `).waitFor({ state: "attached" });
}

/** Answers FollowTrialLogs with numbered lines. */
class Feed implements Replay<"followTrialLogs"> {
  readonly call = "followTrialLogs";
  readonly path = "/logs:follow";
  readonly #trial: string;
  #stream: ReplayStream<Line> | null = null;
  last = 0;

  constructor(trial: string) {
    this.#trial = trial;
  }

  readonly run = async (_body: string, stream: ReplayStream<Line>): Promise<void> => {
    this.#stream = stream;
    await new Promise((resolve) => stream.signal.addEventListener("abort", resolve));
  };

  /** Writes at a steady pace; lines that a late timer missed are sent with the next burst. */
  async write(seconds: number): Promise<void> {
    const stream = this.#stream;
    if (stream === null) throw new Error("the page does not follow the log");
    const first = this.last;
    const count = seconds * linesPerSecond;
    const start = performance.now();
    while (this.last < first + count) {
      const due = Math.floor(((performance.now() - start) / 1_000) * linesPerSecond);
      const until = first + Math.min(count, due);
      const lines = Array.from({ length: until - this.last }, (_, index) =>
        this.#line(this.last + 1 + index),
      );
      this.last = until;
      await stream.send(...lines.map((message) => ({ id: message.cursor, message })));
      await new Promise((resolve) => setTimeout(resolve, burstMs));
    }
  }

  #line(number: number): Line {
    const loss = (1 / Math.sqrt(number)).toFixed(6);
    const level = number % 500 === 0 ? "warning" : "info";
    return {
      trial: this.#trial,
      run: 1,
      nodeRank: 0,
      atMs: 1_700_000_000_000 + number / 5,
      source: number % 7 === 0 ? "stderr" : "stdout",
      text: `\u001b[32mINFO\u001b[0m line ${number} epoch ${number % 90} loss ${loss} lr 3.0e-04 samples/s ${1_000 + (number % 97)}`,
      continued: false,
      cursor: String(1_000_000_000 + number),
      level,
      receivedAtMs: 1_700_000_000_001 + number / 5,
    };
  }
}
