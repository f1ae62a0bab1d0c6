/** Pages of lists whose documents are large, and the rows of deleted experiments. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, searchStarted, trialCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { readModelLimits } from "./limits.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const count = 24;
const text = "x".repeat(240 * 1024);

/** Creates an experiment with trials whose hyperparameters fill more than a page. */
async function create(id: string): Promise<number> {
  await gateway.append(`experiment-${id}`, created({}));
  let position = await gateway.append(`search-${id}`, searchStarted());
  for (let number = 1; number <= count; number += 1) {
    const { type, data } = trialCreated(number);
    position = await gateway.append(
      `trial-${id}.${number}`,
      { type, data: { ...data, experiment: id, hyperparameters: { text, number } } },
      requested(1, 0),
    );
  }
  return position;
}

test("a page of large documents ends by its bytes, and the next one continues", async () => {
  const position = await create("1");
  const seen: number[] = [];
  const sizes: number[] = [];
  let token = "";
  do {
    const path = `/api/v1/experiments/1/trials?minPosition=${position}&pageToken=${token}`;
    const { status, body } = await gateway.call("GET", path);
    expect(status).toBe(200);
    const items = body["items"] as readonly { number: number }[];
    seen.push(...items.map(({ number }) => number));
    sizes.push(JSON.stringify(items).length);
    token = String(body["nextPageToken"] ?? "");
  } while (token !== "");
  expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(sizes.length).toBeGreaterThan(1);
  for (const size of sizes) expect(size).toBeLessThan(readModelLimits.pageBytes + 512 * 1024);
});

test("the rows of a deleted experiment are removed, and those of others stay", async () => {
  await gateway.append("experiment-2", created({}));
  const { data } = trialCreated(1);
  await gateway.append(
    "trial-2.1",
    { type: "TrialCreated", data: { ...data, experiment: "2", hyperparameters: { lr: 1 } } },
    requested(1, 0),
  );
  await gateway.append("experiment-1", {
    type: "ExperimentDeletionRequested",
    data: { graceEndMs: 1, reason: "" },
  });
  const deleted = { type: "ExperimentDeleted", data: {} } as const;
  const position = await gateway.append("experiment-1", deleted);
  const hidden = await gateway.call("GET", `/api/v1/trials/1.7?minPosition=${position}`);
  expect(hidden.status).toBe(404);
  const left = async () => {
    const { rows } = await gateway.sql(
      `select 'document' as what, id from gateway.documents where kind = 'trial'
       union all select 'row', id from gateway.trial_rows
       union all select distinct 'attribute', id from gateway.attributes where kind = 'trial'
       union all select 'removed', id from gateway.removed_experiments order by 1, 2`,
    );
    return rows.map(({ what, id }) => `${what} ${id}`);
  };
  await expect.poll(left).toEqual(["attribute 2.1", "document 2.1", "row 2.1"]);
});
