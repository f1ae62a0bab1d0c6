import type { ListeningService } from "@trainyard/runtime";
import { afterAll, expect, test } from "vitest";
import { report, TestMetrics } from "./testing/test-metrics.ts";

const trial = "3.1";
const stack = new AsyncDisposableStack();

afterAll(() => stack.disposeAsync());

/** Validates at a step, with the token of a run. */
const validated = (metrics: TestMetrics, to: ListeningService, token: string, loss: number) =>
  metrics.send(to, "3.2#1", { reports: [report(1, "validation", 10, { loss })] }, { token });

async function serving(metrics: TestMetrics, token: string) {
  const service = await metrics.replica();
  const send = (...keys: readonly number[]) => {
    const reports = keys.map((n) => report(n, "training", n));
    return metrics.send(service, `${trial}#1`, { reports }, { token });
  };
  const read = async (after?: number) => {
    const query = { experiment: "3", trial: "", group: "", limit: 0 };
    const whole = { ...query, ...(after === undefined ? {} : { after }) };
    const answer = await metrics.stage.ask("metrics", "QueryStreamedPoints", whole);
    if (answer.kind !== "ok") return answer;
    const keys = answer.reply.items.map(({ point }) => point?.key);
    return { keys, next: answer.reply.next };
  };
  const head = async (): Promise<number> => {
    const answer = await read();
    return "next" in answer ? answer.next : Number.NaN;
  };
  return { service, send, read, head };
}

const gone = { kind: "rejected", rejection: { rejected: "position_gone" } };

test("a restored database refuses positions and runs that were lost, even if it has grown past them, and continues from others without a gap", async () => {
  const first = stack.use(await TestMetrics.start({}));
  await first.request(trial, 1);
  const token = first.token(`${trial}#1`);
  const original = await serving(first, token);
  await original.send(1, 2);
  expect(await original.head()).toBe(2);
  await original.service[Symbol.asyncDispose]();
  await first.stage.postgres.stop();
  const backup = first.stage.postgres.data;

  const unrestored = stack.use(await TestMetrics.start({ copyOf: backup }));
  const continued = await serving(unrestored, token);
  await continued.send(3, 4, 5);
  const lost = await continued.head();
  expect(await continued.read(2)).toMatchObject({ keys: ["0-3", "0-4", "0-5"], next: lost });

  await unrestored.request("3.2", 1);
  const lostToken = unrestored.token("3.2#1");
  expect((await validated(unrestored, continued.service, lostToken, 42)).status).toBe(200);

  const renewed = stack.use(await TestMetrics.start({ copyOf: backup }));
  const restored = await serving(renewed, token);
  expect(await restored.read(2)).toEqual({ keys: [], next: 2 });
  expect(await restored.read(lost)).toMatchObject(gone);
  await restored.send(...Array.from({ length: 20 }, (_, n) => 10 + n));
  const head = await restored.head();
  // Position 5 would have been the first server's next one.
  for (const after of [3, 5, lost, lost - 1, head + 1]) {
    expect(await restored.read(after)).toMatchObject(gone);
  }
  const added = Array.from({ length: 20 }, (_, n) => `0-${10 + n}`);
  expect(await restored.read(2)).toMatchObject({ keys: added, next: head });
  expect(await restored.read(1)).toMatchObject({ keys: ["0-2", ...added] });
  expect(await restored.read(head - 3)).toMatchObject({ keys: added.slice(-3) });
  expect(await restored.read(head)).toEqual({ keys: [], next: head });

  // The number is given again, at the same position: the lost run's reports are not the new run's.
  await renewed.request("3.2", 1);
  expect(await validated(renewed, restored.service, lostToken, 42)).toMatchObject({
    status: 410,
    body: { code: "history_lost" },
  });
  expect((await validated(renewed, restored.service, renewed.token("3.2#1"), 7)).status).toBe(200);
  expect(await renewed.reports("3.2")).toEqual([
    [1, "validation", 10, { loss: 7 }, expect.anything(), false],
  ]);
  const events = await renewed.stage.events("measurement-3.2");
  expect(events.map(({ data }) => data)).toMatchObject([{ scalars: { loss: 7 } }]);
});
