import { logSubject, metricSubject } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import type { TrialLogLine, WatchTopic } from "@trainyard/contracts/api";
import {
  LogLevel,
  LogSource,
  type StoredLine,
  type StreamedPoint,
} from "@trainyard/contracts/commands";
import { reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { liveLimits } from "../../live/limits.ts";
import { created, requested, searchStarted, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { watching } from "../../testing/watching.ts";
import { apiLimits } from "../limits.ts";

/** The metric points and log lines of the experiments in the simulated services, and the epoch of the log store. */
let points: Plain<StreamedPoint>[] = [];
let lines: Plain<StoredLine>[] = [];
let epoch = "a";
/** The number of positions that the next point skips. */
let leap = 0;
let gone = 0;
let looks = 0;

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
let serving = new AsyncDisposableStack();

const QueryStreamedPoints: CommandTable<"metrics">["QueryStreamedPoints"] = async ({
  experiment,
  after,
  trial,
  group,
}) => {
  looks += 1;
  const head = headOfPoints();
  if (after === undefined) return { items: [], next: head, more: false };
  const isKnown = after === 0 || points.some(({ position }) => position === after);
  if (after < gone || !isKnown) return reject("position_gone", "list them");
  const wanted = points.filter(
    (item) =>
      item.position > after &&
      item.trial.startsWith(`${experiment}.`) &&
      (trial === "" || item.trial === trial) &&
      (group === "" || (item.point?.group ?? group) === group),
  );
  const items = wanted.slice(0, 3);
  const more = items.length < wanted.length;
  return { items, next: more ? (items.at(-1)?.position ?? 0) : head, more };
};

const headOfPoints = (): number => points.at(-1)?.position ?? 0;

const QueryLines: CommandTable<"logs">["QueryLines"] = async (asked) => {
  const { task, after, before, tail, level, contains = "", matches } = asked;
  if (matches === "(") return reject("invalid_request", "matches is no regular expression");
  if (before !== "") return { lines: [], more: false, next: "", epoch };
  const own = lines.filter(
    (one) =>
      (task === "1" || one.trial === task) &&
      (level === undefined || one.level >= level) &&
      one.line?.text.includes(contains) === true,
  );
  if (tail > 0) return { lines: own.slice(-tail), more: false, next: "", epoch };
  const wanted = own.filter(({ cursor }) => Number(cursor) > Number(after || "0"));
  const items = wanted.slice(0, 3);
  const next = items.at(-1)?.cursor ?? after;
  return { lines: items, more: items.length < wanted.length, next, epoch };
};

async function serve(): Promise<void> {
  serving.use(await gateway.serving("metrics", { QueryStreamedPoints }));
  serving.use(await gateway.serving("logs", { QueryLines }));
}

async function leave(): Promise<void> {
  await serving.disposeAsync();
  serving = new AsyncDisposableStack();
}

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  await gateway.append("search-1", searchStarted());
  await gateway.append("experiment-1", created({}));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  for (let id = 2; id <= liveLimits.watchTopicsMax; id += 1) {
    await gateway.append(`experiment-${id}`, created({}));
  }
  const position = await gateway.append("trial-1.2", trialCreated(2), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
});

afterAll(async () => {
  await leave();
  await stack.disposeAsync();
});

beforeEach(async () => {
  [points, lines, epoch, gone, leap] = [[], [], "a", 0, 0];
  await leave();
  await serve();
});

/** Restores a backup of both stores, which has only the first points. */
function restore(count: number): void {
  points = points.slice(0, count);
  [epoch, leap] = ["b", 1_000];
}

const experimentOf = (trial: string): string => trial.split(".")[0] ?? "";

function report(trial: string, metric = "loss", group = "training"): void {
  const position = headOfPoints() + leap + 1;
  leap = 0;
  const scalars = { [metric]: position };
  const values = { scalars, others: {}, atMs: 7, key: `0-${position}` };
  const point = { run: 1, group, stepsCompleted: position, superseded: false, ...values };
  points.push({ position, trial, point });
  gateway.bus.publishLive(
    "METRICS",
    metricSubject(experimentOf(trial), trial, group),
    new Uint8Array(1),
  );
}

function write(trial: string, level: LogLevel = LogLevel.UNSPECIFIED): void {
  const sequence = lines.length + 1;
  const source = LogSource.STDOUT;
  const line = {
    allocation: `${trial}#1`,
    nodeRank: 0,
    sequence,
    atMs: 7,
    source,
    continued: false,
  };
  // The odd cursors belong to lines of other experiments.
  const cursor = String(2 * sequence);
  const stored = { ...line, text: `line ${sequence}` };
  lines.push({ trial, run: 1, cursor, level, receivedAtMs: 9, line: stored });
  gateway.bus.publishLive("LOGS", logSubject(trial), new Uint8Array(1));
}

const wrongFilter = { source: "", level: "", contains: "", matches: "(", search: "" };

type Asked = Partial<Plain<WatchTopic>> & { readonly kind: string };

/** A client that reconnects with its cursor. It keeps the items of each topic, in the order of their arrival. */
class Series {
  readonly topics: readonly Asked[];
  readonly got: string[][];
  readonly resets: string[] = [];
  bookmarks = 0;
  cursor = "";

  constructor(...topics: readonly Asked[]) {
    this.topics = topics;
    this.got = topics.map(() => []);
  }

  /** Reads until `isEnough` returns true, or disconnects after `framesMax` frames. */
  async read(isEnough: () => boolean, framesMax = Number.POSITIVE_INFINITY): Promise<void> {
    let names: readonly string[] = [];
    let frames = 0;
    const body = { topics: this.topics.map((topic) => ({ ...topic })), after: this.cursor };
    for await (const { id, frame } of watching(gateway, body as never)) {
      names = (frame["opened"]?.["topics"] as string[] | undefined) ?? names;
      const got = this.got[names.indexOf(String((frame["points"] ?? frame["lines"])?.["topic"]))];
      const items = (frame["points"] ?? frame["lines"])?.["items"] as Item[] | undefined;
      got?.push(...(items ?? []).map(({ point, text }) => text ?? point?.key ?? "superseded"));
      if (frame["reset"] !== undefined) this.resets.push(String(frame["reset"]["reason"]));
      if (frame["bookmark"] !== undefined) this.bookmarks += 1;
      if (id !== "") this.cursor = id;
      frames += 1;
      if (isEnough() || frames >= framesMax) return;
    }
  }
}

type Item = { readonly point?: { readonly key: string } } & Partial<Pick<TrialLogLine, "text">>;

const keysOf = (trial = ""): readonly string[] =>
  points
    .filter((item) => trial === "" || item.trial === trial)
    .map(({ point }) => point?.key ?? "");
const textsOf = (trial = ""): readonly string[] =>
  lines.filter((one) => trial === "" || one.trial === trial).map(({ line }) => line?.text ?? "");

const ofPoints = { kind: "points", experiment: "1", position: "0" };
const ofLines = { kind: "lines", experiment: "1", position: "0" };

test("after any reports, lines, disconnects and outages, each item arrives once and in order", async () => {
  const step = fc.record({
    kind: fc.constantFrom("report", "write", "cut", "leave", "return"),
    trial: fc.constantFrom("1.1", "1.2"),
    count: fc.integer({ min: 1, max: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      [points, lines] = [[], []];
      await leave();
      await serve();
      const ofOne = { ...ofPoints, id: "1.2" };
      const series = new Series(ofPoints, ofOne, ofLines, { ...ofLines, id: "1.1" });
      for (const { kind, trial, count } of steps) {
        if (kind === "leave" || kind === "return") await leave();
        if (kind === "return") await serve();
        // The first bookmark follows the last item that is available.
        const { bookmarks } = series;
        if (kind === "cut") await series.read(() => series.bookmarks > bookmarks, count);
        for (let n = 0; n < count; n += 1) {
          if (kind === "report") report(trial);
          if (kind === "write") write(trial);
        }
      }
      await leave();
      await serve();
      const wanted = [keysOf(), keysOf("1.2"), textsOf(), textsOf("1.1")];
      const lengths = JSON.stringify(wanted.map(({ length }) => length));
      await series.read(() => JSON.stringify(series.got.map(({ length }) => length)) === lengths);
      expect(series.got).toEqual(wanted);
    }),
    { numRuns: 15, seed: 16 },
  );
});

describe("a stream of points and lines", () => {
  it("starts at the present without a position, and gets all later items", async () => {
    report("1.1");
    write("1.1");
    const series = new Series({ ...ofPoints, position: "" }, { ...ofLines, position: "" });
    await series.read(() => series.cursor !== "");
    report("1.1");
    write("1.2");
    await series.read(() => series.got.every(({ length }) => length > 0));
    expect(series.got).toEqual([["0-2"], ["line 2"]]);
  });

  it("has only the metrics and the group that its topic names", async () => {
    report("1.1", "loss");
    report("1.1", "accuracy");
    report("1.2", "loss", "validation");
    points.push({ position: 4, trial: "1.1", superseded: { run: 2, afterStep: 3 } });
    const series = new Series(
      { ...ofPoints, names: ["accuracy", "f1"] },
      { ...ofPoints, group: "validation" },
    );
    await series.read(() => series.got.map(({ length }) => length).join() === "2,2");
    expect(series.got).toEqual([
      ["0-2", "superseded"],
      ["0-3", "superseded"],
    ]);
  });

  it("follows the points of 64 experiments, each from its own position, over a broken connection", async () => {
    const ids = Array.from({ length: liveLimits.watchTopicsMax }, (_, n) => String(n + 1));
    for (const id of ids) report(`${id}.1`);
    const series = new Series(
      ...ids.map((experiment, n) => ({ ...ofPoints, experiment, position: String(n + 1) })),
    );
    for (const count of [1, 2]) {
      const reading = series.read(() => series.got.every(({ length }) => length === count));
      for (const id of ids) report(`${id}.1`);
      await reading;
    }
    const keys = (n: number) => [65 + n, 129 + n].map((position) => `0-${position}`);
    expect(series.got).toEqual(ids.map((_, n) => keys(n)));
    expect(series.resets).toEqual([]);
  });

  it("has only the lines that match the filter of its topic", async () => {
    write("1.1", LogLevel.INFO);
    write("1.2", LogLevel.ERROR);
    write("1.1", LogLevel.ERROR);
    const none = { source: "", level: "", contains: "", matches: "", search: "" };
    const series = new Series(
      { ...ofLines, lineFilter: { ...none, level: "error" } },
      { ...ofLines, lineFilter: { ...none, contains: "line 1" } },
      { ...ofLines, id: "1.1" },
    );
    await series.read(() => series.got.map(({ length }) => length).join() === "2,1,2");
    expect(series.got).toEqual([["line 2", "line 3"], ["line 1"], ["line 1", "line 3"]]);
    write("1.1", LogLevel.ERROR);
    await series.read(() => series.got[0]?.length === 3);
    expect(series.got[1]).toEqual(["line 1"]);
  });

  it("keeps its other topics while the services are unavailable, and continues when they return", async () => {
    const series = new Series(ofPoints, ofLines, { kind: "experiments" });
    await leave();
    const reading = series.read(() => series.got[0]?.length === 1 && series.got[1]?.length === 1);
    report("1.1");
    write("1.1");
    await serve();
    await reading;
    expect(series.resets).toEqual([]);
  });

  it("is reset, topic by topic, if the store has another history, and then continues", async () => {
    for (let n = 0; n < 3; n += 1) report("1.1");
    write("1.1");
    const series = new Series(ofPoints, ofLines);
    const hasAll = () => series.got.map(({ length }) => length).join() === "3,1";
    await series.read(hasAll);
    restore(2);
    report("1.1");
    await series.read(() => series.resets.length === 2);
    expect(new Set(series.resets)).toEqual(new Set(["the store has another history", "list them"]));
    report("1.1");
    write("1.1");
    await series.read(() => series.got.map(({ length }) => length).join() === "4,2");
    expect(series.got).toEqual([["0-1", "0-2", "0-3", "0-1004"], textsOf()]);
  });

  it("is reset while it is open if the store has another history", async () => {
    report("1.1");
    write("1.1");
    const series = new Series(ofPoints, ofLines);
    await series.read(() => {
      if (series.got.every(({ length }) => length === 1)) restore(0);
      return series.resets.length === 2;
    });
    expect(series.got).toEqual([["0-1"], ["line 1"]]);
  });

  it("is reset if its position is older than the points that are kept in order", async () => {
    for (let n = 0; n < 5; n += 1) report("1.1");
    gone = 3;
    const series = new Series({ ...ofPoints, position: "1" });
    await series.read(() => series.resets.length === 1);
    report("1.2");
    await series.read(() => series.got[0]?.length === 1);
    expect(series.got).toEqual([["0-6"]]);
  });

  it("is reset if its cursor is of another history of the log", async () => {
    report("1.1");
    const series = new Series(ofPoints);
    await series.read(() => series.got[0]?.length === 1);
    const [position, , rest] = JSON.parse(Buffer.from(series.cursor, "base64url").toString());
    const forged = JSON.stringify([position, "another", rest]);
    series.cursor = Buffer.from(forged).toString("base64url");
    await series.read(() => series.resets.length === 1);
    expect(series.got).toEqual([["0-1"]]);
  });

  it("shares queries with all watchers of the same topic", async () => {
    const many = Array.from({ length: 20 }, () => new Series(ofPoints));
    const reading = many.map((series) => series.read(() => series.got[0]?.length === 2));
    report("1.1");
    const first = many.map(async (series) => {
      while (series.got[0]?.length !== 1) await new Promise(setImmediate);
    });
    await Promise.all(first);
    const before = looks;
    report("1.1");
    await Promise.all(reading);
    expect(looks - before).toBeLessThan(10);
  });

  it.each<[string, Asked, RegExp]>([
    ["of no experiment", { kind: "points" }, /^topics\[0\] needs an experiment/],
    ["of an unknown one", { kind: "lines", experiment: "99" }, /^there is no experiment 99/],
    [
      "of a trial of another",
      { ...ofPoints, experiment: "2", id: "1.1" },
      /no trial of experiment 2/,
    ],
    ["of an unknown trial", { ...ofLines, id: "1.9" }, /^there is no trial 1\.9/],
    ["with a filter", { ...ofLines, filter: "level = error" }, /^topics\[0\] has a filter/],
    ["with a position that is none", { ...ofPoints, position: "soon" }, /no position of points/],
    ["with names of lines", { ...ofLines, names: ["loss"] }, /which are of points/],
    [
      "with a filter of lines on points",
      { ...ofPoints, lineFilter: wrongFilter },
      /^topics\[0\] has line_filter, which is of lines/,
    ],
    [
      "with a filter that is none",
      { ...ofLines, lineFilter: wrongFilter },
      /^topics\[0\]\.line_filter\.matches is no regular expression/,
    ],
    ["of a workspace", { ...ofPoints, workspace: "lab" }, /has a workspace, which is of projects/],
    ["with names of a list", { kind: "experiments", group: "training" }, /which are of points/],
    [
      "with too many names",
      { ...ofPoints, names: Array.from({ length: apiLimits.seriesNamesMax + 1 }, String) },
      /has 51 names; a topic takes 50/,
    ],
  ])("%s is refused in a sentence", async (_what, topic, sentence) => {
    const body = { topics: [topic] };
    const answer = await gateway.call("POST", "/api/v1/watch", { body });
    expect([400, 404]).toContain(answer.status);
    expect(answer.body["detail"]).toMatch(sentence);
  });
});
