import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { created, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 100 });

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({}));
  await gateway.append("experiment-2", created({}));
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Row = Readonly<Record<string, unknown>>;
const views = async (): Promise<readonly Row[]> =>
  (await gateway.call("GET", "/api/v1/views")).body["items"] as readonly Row[];
const own = async (): Promise<Row> =>
  (await views()).find(({ service }) => service === "gateway") ?? {};

describe("the read models", () => {
  test("are listed, and a service that does not answer is listed with that problem", async () => {
    await until(async () => expect(await own()).toMatchObject({ lag: "0" }));
    expect(await views()).toMatchObject([
      { service: "gateway", name: "documents", position: "3", caughtUp: true, problem: "" },
      { service: "checkpoint-gc", name: "", problem: expect.stringContaining("does not answer") },
      { service: "feeds", name: "", problem: expect.stringContaining("does not answer") },
      { service: "registry", name: "", problem: expect.stringContaining("does not answer") },
    ]);
  });

  test("are not found if the service has no view of that name", async () => {
    for (const [service, view] of [
      ["gateway", "nothing"],
      ["searcher", "documents"],
    ]) {
      const body = { service, view };
      expect((await gateway.call("POST", "/api/v1/views/rebuild", { body })).status).toBe(404);
    }
  });
});

describe("an event that the read model cannot apply", () => {
  test("is listed as parked, affects no other stream, and is applied when it is retried", async () => {
    // The update makes the stored document of the experiment unreadable.
    await gateway.sql(
      "update gateway.documents set doc = '{' where kind = 'experiment' and id = '1'",
    );
    const position = await gateway.append("experiment-1", { type: "ExperimentPaused", data: {} });
    await gateway.append("experiment-1", { type: "ExperimentActivated", data: {} });
    const last = await gateway.append("experiment-2", { type: "ExperimentActivated", data: {} });
    await until(async () => expect(await own()).toMatchObject({ position: String(last) }));
    const state = async (id: string) =>
      (await gateway.call("GET", `/api/v1/experiments/${id}`)).body["state"];
    expect(await state("2")).toBe("ACTIVE");
    const parked = async () =>
      (await gateway.call("GET", "/api/v1/parked")).body["items"] as readonly Row[];
    expect(await parked()).toMatchObject([
      {
        consumer: "gateway.documents",
        key: "experiment-1",
        eventPosition: String(position),
        type: "dev.trainyard.experiment.ExperimentPaused.v1",
        reason: expect.stringContaining("JSON"),
      },
    ]);
    expect(await own()).toMatchObject({
      setAside: [{ stream: "experiment-1", eventPosition: String(position), waiting: 1 }],
    });
    expect((await gateway.call("GET", "/metrics", { token: null })).body["text"]).toContain(
      'trainyard_view_set_aside_streams{view="documents",service="gateway"} 1',
    );
    const body = { consumer: "gateway.documents", key: "experiment-1" };
    expect((await gateway.call("POST", "/api/v1/parked/retry", { body })).status).toBe(200);
    await until(async () => expect(await parked()).toEqual([]));
    expect(await state("1")).toBe("ACTIVE");
    await gateway.append("trial-1.1", trialCreated(1));
    await until(async () => expect(await own()).toMatchObject({ lag: "0", buildingAt: "" }));
  });
});
