import type { IncomingMessage } from "node:http";
import { metricSubject } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import {
  QueryStreamedPointsSchema,
  type StreamedPoint,
  StreamedPointPageSchema,
} from "@trainyard/contracts/commands";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { command } from "@trainyard/runtime";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { openStream, StreamText } from "../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
/** What the metrics service has of experiment 1. */
let stored: Plain<StreamedPoint>[] = [];
let removed = 0;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  await gateway.append("experiment-1", created({}));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  stack.use(
    await gateway.serving("metrics", {
      QueryStreamedPoints: command(
        QueryStreamedPointsSchema,
        StreamedPointPageSchema,
        async ({ after, trial }) => {
          const head = stored.length;
          if (after === undefined) return { items: [], next: head, more: false };
          if (after < removed) return reject("position_gone", "list them");
          const later = stored.filter((item) => item.position > after);
          const items = later.filter((item) => trial === "" || item.trial === trial).slice(0, 2);
          const more = items.length < later.length;
          return { items, next: more ? (items.at(-1)?.position ?? head) : head, more };
        },
      ),
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
  const values = {
    scalars: { loss: 0.5, acc: Number.NaN },
    others: {},
    atMs: 7,
    superseded: false,
  };
  const point = { run: 1, group: "training", stepsCompleted: 3, key: `0-${position}`, ...values };
  stored.push({ position, trial, point });
}

const announce = (trial = "1.1"): void =>
  gateway.bus.publishLive("METRICS", metricSubject("1", trial, "training"), new Uint8Array(1));

const idsOf = ({ text }: StreamText): readonly number[] =>
  [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const pathOf = (after: string): string => `/api/v1/experiments/1/metrics:follow${after}`;

async function following(path: string): Promise<{ stream: IncomingMessage; text: StreamText }> {
  const stream = await openStream(gateway, path);
  return { stream, text: new StreamText(stream) };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 90_000, interval: 5 });

test("a follower gets every point after its position, with its position as the id", async () => {
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

test("a follower without a position gets what comes from now on, and its position at once", async () => {
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

test("a follower gets points that nothing announces", async () => {
  const { stream, text } = await following(pathOf("?after=0"));
  store();
  await eventually(() => expect(idsOf(text)).toEqual([1]));
  stream.destroy();
});

test("a follower of one trial gets its points, under the positions of the experiment", async () => {
  store("1.2");
  store();
  store("1.2");
  const { stream, text } = await following("/api/v1/trials/1.1/metrics:follow?after=0");
  await eventually(() => expect(idsOf(text)).toEqual([2]));
  stream.destroy();
});

test("a supersession says which points of which runs no longer count", async () => {
  stored.push({ position: 1, trial: "1.1", superseded: { run: 2, afterStep: 400 } });
  const { stream, text } = await following(pathOf("?after=0"));
  await eventually(() => expect(idsOf(text)).toEqual([1]));
  expect(text.text).toContain('"superseded":{"trial":"1.1","run":2,"afterStep":400}');
  stream.destroy();
});

test("a position that is too old, or is none, is refused", async () => {
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

test("a stream ends after the last point of an experiment that has ended", async () => {
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
