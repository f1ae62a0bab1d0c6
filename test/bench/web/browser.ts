/** Chromium for measurements of the Web UI: signed-in pages, and the work of their main thread. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const viewport = { width: 1_280, height: 800 };
const patienceMs = 120_000;

const launched = (program: string) => ({
  executablePath: program,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});

/** The browsers of the measurements: each has its own, unless they share one, which is for tests. */
export class Browsers {
  readonly program: string;
  readonly #shared: Browser | null;

  private constructor(program: string, shared: Browser | null) {
    this.program = program;
    this.#shared = shared;
  }

  static async start(
    stack: AsyncDisposableStack,
    program: string,
    areOne: boolean,
  ): Promise<Browsers> {
    return new Browsers(program, areOne ? await openBrowser(stack, program) : null);
  }

  async open(stack: AsyncDisposableStack): Promise<Browser> {
    return this.#shared ?? openBrowser(stack, this.program);
  }
}

async function openBrowser(stack: AsyncDisposableStack, program: string): Promise<Browser> {
  const browser = await chromium.launch(launched(program));
  stack.defer(() => browser.close());
  return browser;
}

/** Opens a new profile with a session of the token at `address`. */
export async function signedIn(
  stack: AsyncDisposableStack,
  browser: Browser,
  address: string,
  token: string,
): Promise<BrowserContext> {
  const own = await browser.newContext({ viewport });
  stack.defer(() => own.close());
  return withSession(own, address, token);
}

/** Like `signedIn` with a folder in which the browser keeps files and compiled scripts, like a user's browser. */
export async function signedInProfile(
  stack: AsyncDisposableStack,
  program: string,
  address: string,
  token: string,
): Promise<BrowserContext> {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-bench-profile-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const own = await chromium.launchPersistentContext(folder, { ...launched(program), viewport });
  stack.defer(() => own.close());
  return withSession(own, address, token);
}

async function withSession(
  own: BrowserContext,
  address: string,
  token: string,
): Promise<BrowserContext> {
  own.setDefaultTimeout(patienceMs);
  const answer = await own.request.post(`${address}/api/v1/sessions`, { data: { token } });
  if (!answer.ok()) throw new Error(`the token opened no session: ${await answer.text()}`);
  return own;
}

/** Milliseconds of processor time of a page's main thread; other processes do not affect it. */
export type MainThread = {
  readonly taskMs: number;
  readonly scriptMs: number;
};

export async function mainThread(page: Page): Promise<() => Promise<MainThread>> {
  const debug = await page.context().newCDPSession(page);
  await debug.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await debug.send("Performance.getMetrics");
    const msOf = (wanted: string): number =>
      1_000 * (metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN);
    return { taskMs: msOf("TaskDuration"), scriptMs: msOf("ScriptDuration") };
  };
}

/** Returns the tasks of a page's main thread during an action, in milliseconds of processor time, the longest first. */
export async function tasksDuring(
  page: Page,
  act: () => Promise<void>,
): Promise<readonly number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the browser has ended");
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const threads = Map.groupBy(traceEvents, ({ pid, tid }) => `${pid} ${tid}`);
  const mains = [...threads.values()].filter((events) =>
    events.some(({ args }) => args?.name === "CrRendererMain"),
  );
  const tasks = mains.flat().filter(({ name }) => name.endsWith("RunTask"));
  return tasks.map(({ tdur = 0 }) => tdur / 1_000).toSorted((a, b) => b - a);
}

type TraceEvent = {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  /** The duration of the event in microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};
