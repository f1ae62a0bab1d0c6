import type { IncomingMessage } from "node:http";
import { metricSubject } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import {
  ExperimentService,
  MetricStreamService,
  SessionService,
  type StreamedMetric,
} from "@trainyard/contracts/api";
import type { StreamedPoint } from "@trainyard/contracts/commands";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { GrpcClient } from "@trainyard/runtime/grpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { openStream, StreamText } from "../../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
/** The points of experiment 1 in the simulated metrics service. */
let stored: Plain<StreamedPoint>[] = [];
let removed = 0;
/** The number of queries to the metrics service. */
let looks = 0;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  await gateway.append("experiment-1", created({}));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  stack.use(
    await gateway.serving("metrics", {
      QueryPoints: async () => ({
        points: [pointOf("0-1")],
        next: "",
        position: 1,
        streamPosition: 17,
      }),
      QueryStreamedPoints: async ({ after, trial }) => {
        looks += 1;
        const head = stored.length;
        if (after === undefined) return { items: [], next: head, more: false };
        if (after < removed) return reject("position_gone", "list them");
        const later = stored.filter((item) => item.position > after);
        const items = later.filter((item) => trial === "" || item.trial === trial).slice(0, 2);
        const more = items.length < later.length;
        return { items, next: more ? (items.at(-1)?.position ?? head) : head, more };
      },
    }),
  );
});

afterAll(() => stack.disposeAsync());

beforeEach(() => {
  stored = [];
  removed = 0;
});

function store(trial = "1.1"): void {
  const position = stored.length + 1;
  stored.push({ position, trial, point: pointOf(`0-${position}`) });
}

function pointOf(key: string) {
  const values = { scalars: { loss: 0.5, acc: Number.NaN }, others: {}, atMs: 7 };
  return { run: 1, group: "training", stepsCompleted: 3, superseded: false, key, ...values };
}

type ServiceFailure = { readonly code: number; readonly metadata: { get(name: string): unknown } };

const announce = (trial = "1.1"): void =>
  gateway.bus.publishLive("METRICS", metricSubject("1", trial, "training"), new Uint8Array(1));

const idsOf = ({ text }: StreamText): readonly number[] =>
  [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const pathOf = (after: string): string => `/api/v1/experiments/1/metrics:follow${after}`;

async function following(path: string): Promise<{ stream: IncomingMessage; text: StreamText }> {
  const stream = await openStream(gateway, path);
  return { stream, text: new StreamText(stream) };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 90_000, interval: 50 });

test("a follower gets every point after its position, with the point's position as event id", async () => {
  for (let n = 0; n < 5; n += 1) store();
  const { stream, text } = await following(pathOf("?after=1"));
  await eventually(() => expect(idsOf(text)).toEqual([2, 3, 4, 5]));
  store();
  announce();
  await eventually(() => expect(idsOf(text)).toEqual([2, 3, 4, 5, 6]));
  const [, data = ""] = /^id: 6\ndata: (.*)$/m.exec(text.text) ?? [];
  expect(JSON.parse(data)).toEqual({
    position: "6",
    point: {
      trial: "1.1",
      run: 1,
      group: "training",
      stepsCompleted: 3,
      reportedAtMs: 7,
      metrics: { loss: 0.5, acc: "NaN" },
      superseded: false,
      others: {},
      key: "0-6",
    },
  });
  stream.destroy();
});

test("a follower without a position gets its position at once, and then each new point", async () => {
  store();
  store();
  const { stream, text } = await following(pathOf(""));
  await eventually(() => expect(idsOf(text)).toEqual([2]));
  expect(text.text).toContain('data: {"position":"2"}\n');
  store();
  announce();
  await eventually(() => expect(idsOf(text)).toEqual([2, 3]));
  stream.destroy();
});

test("a follower gets points without an announcement on the bus", async () => {
  const { stream, text } = await following(pathOf("?after=0"));
  store();
  await eventually(() => expect(idsOf(text)).toEqual([1]));
  stream.destroy();
});

test("a follower of one trial gets its points, with positions of the experiment's stream", async () => {
  store("1.2");
  store();
  store("1.2");
  const { stream, text } = await following("/api/v1/trials/1.1/metrics:follow?after=0");
  await eventually(() => expect(idsOf(text)).toEqual([2]));
  stream.destroy();
});

test("many followers of one experiment that wake at once share one query", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => following(pathOf("?after=0"))));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const costs: number[] = [];
  // A query by the timer may fall into a round of the test, but not into each of three.
  for (let round = 1; round <= 3; round += 1) {
    const before = looks;
    store();
    announce();
    await eventually(() => {
      for (const { text } of all) expect(idsOf(text)).toHaveLength(round);
    });
    costs.push(looks - before);
  }
  expect(Math.min(...costs)).toBeLessThan(10);
  for (const { stream } of all) stream.destroy();
});

test("a supersession message names the run and the step after which its points no longer count", async () => {
  stored.push({ position: 1, trial: "1.1", superseded: { run: 2, afterStep: 400 } });
  const { stream, text } = await following(pathOf("?after=0"));
  await eventually(() => expect(idsOf(text)).toEqual([1]));
  expect(text.text).toContain('"superseded":{"trial":"1.1","run":2,"afterStep":400}');
  stream.destroy();
});

test("a position that was removed, or is invalid, is refused", async () => {
  for (let n = 0; n < 5; n += 1) store();
  removed = 3;
  const gone = await gateway.call("GET", pathOf("?after=2"));
  expect([gone.status, gone.body["code"]]).toEqual([410, "position_gone"]);
  for (const after of ["x", "-1", "1.5", "1e3"]) {
    expect((await gateway.call("GET", pathOf(`?after=${after}`))).status).toBe(400);
  }
  const unknown = await gateway.call("GET", "/api/v1/experiments/9/metrics:follow");
  expect([unknown.status, unknown.body["code"]]).toEqual([404, "experiment_not_found"]);
});

describe("over gRPC", () => {
  const { followMetrics, followTrialMetrics } = MetricStreamService.method;
  const clients = new DisposableStack();
  const client = (token = gateway.token) => clients.use(new GrpcClient(gateway.grpcUrl, token));

  afterAll(() => clients.dispose());

  /** Collects the positions and keys of the stream, and how it ended. */
  function heard(stream: ReturnType<GrpcClient["read"]>) {
    const items: (readonly [string, string | undefined])[] = [];
    const ended = new Promise<unknown>((resolve) => {
      stream.on("error", resolve).on("end", () => resolve("end"));
    });
    stream.on("data", ({ position, point }: StreamedMetric) => items.push([position, point?.key]));
    return { items, ended };
  }

  test("a follower gets the same points as over HTTP, and may cancel", async () => {
    for (let n = 0; n < 3; n += 1) store();
    const stream = client().read(followMetrics, { experiment: "1", after: "1" });
    const { items, ended } = heard(stream);
    await eventually(() => expect(items.length).toBe(2));
    store();
    announce();
    await eventually(() =>
      expect(items).toEqual([
        ["2", "0-2"],
        ["3", "0-3"],
        ["4", "0-4"],
      ]),
    );
    stream.cancel();
    expect(await ended).toMatchObject({ code: 1 });
  });

  test("invalid tokens, positions and names are refused as over HTTP", async () => {
    removed = 3;
    const refused = [
      [() => client("").read(followMetrics, { experiment: "1" }), 16, "no_token"],
      [() => ofRun().read(followMetrics, { experiment: "1" }), 7, "not_for_runs"],
      [() => client().read(followMetrics, { experiment: "9" }), 5, "experiment_not_found"],
      [() => read("2"), 11, "position_gone"],
      [() => read("x"), 3, "invalid_request"],
    ] as const;
    const runToken = await gateway.runToken("1.1#1");
    const ofRun = () => client(runToken);
    const read = (after: string) => client().read(followTrialMetrics, { trial: "1.1", after });
    for (const [open, code, reason] of refused) {
      const error = (await heard(open()).ended) as ServiceFailure;
      expect([error.code, error.metadata.get("trainyard-code")]).toEqual([code, [reason]]);
    }
  });

  test("lists and series of metrics are answered as over HTTP", async () => {
    const { listTrialMetrics } = ExperimentService.method;
    const page = await client().call(listTrialMetrics, { trial: "1.1" });
    expect(page.streamPosition).toBe("17");
    expect(page.items).toMatchObject([{ trial: "1.1", key: "0-1", metrics: { loss: 0.5 } }]);
    const unserved = client().call(SessionService.method.createSession, {});
    await expect(unserved).rejects.toMatchObject({ code: 12 });
  });
});

test("a metric stream ends after the last point of an experiment that has ended", async () => {
  store();
  const position = await gateway.append("experiment-1", {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  });
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  const { text } = await following(pathOf("?after=0"));
  await text.ended;
  expect(idsOf(text)).toEqual([1]);
  expect(text.text).toContain("event: end");
});
