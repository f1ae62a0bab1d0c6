import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway } from "../../testing/test-gateway.ts";

const validated = (
  step: number,
  key: string,
  scalars: Readonly<Record<string, number>>,
): AnyEvent => ({
  type: "ValidationReported",
  data: { trial: "1.1", run: 1, step, scalars, reportKey: key, nonNumeric: [] },
});

test("a checkpoint has the metrics of all validations of its step, the latest value of each", async () => {
  await using gateway = await startTestGateway();
  const checkpoint = randomUUID();
  await gateway.append("experiment-1", created({}));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.append(
    "measurement-1.1",
    validated(3, "0-1", { loss: 0.5, first: 1 }),
    validated(3, "0-2", { second: 2, loss: 0.4 }),
    validated(4, "0-3", { loss: 0.3 }),
  );
  await gateway.append(`checkpoint-${checkpoint}`, {
    type: "CheckpointDeclared",
    data: { trial: "1.1", run: 1, step: 3, format: "" },
  });
  const path = `/api/v1/checkpoints/${checkpoint}`;
  await expect
    .poll(async () => (await gateway.call("GET", path)).body["metrics"])
    .toEqual({ loss: 0.4, first: 1, second: 2 });
});
