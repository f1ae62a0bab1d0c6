import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { emptyMeta } from "@trainyard/runtime";
import { expect, test, vi } from "vitest";
import { TestMetrics } from "./testing/test-metrics.ts";

const unreadable = { type: "dev.trainyard.trial.RunRequested.v1", body: "7" };

test("metrics is not ready while parking has stopped its reactions, over HTTP and as a service", async () => {
  await using metrics = await TestMetrics.start();
  const service = await metrics.replica();
  expect(service.readiness()).toBeNull();
  await using log = createPostgresLog({
    connectionString: metrics.stage.url("ty_others"),
  });
  for (const stream of ["trial-1.1", "trial-2.1", "trial-3.1"]) {
    const events = [{ id: newEventId(), ...unreadable }];
    const writes = [{ stream, expectedVersion: 0, events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
  await metrics.stage.relay();
  const stopped = "stopped: three events in a row could not be processed";
  await vi.waitFor(() => expect(service.readiness()).toBe(stopped), { timeout: 90_000 });
  const answer = await fetch(`${service.address()}/readyz`);
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 503,
    text: `${stopped}\n`,
  });
});
