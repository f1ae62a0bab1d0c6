/** The removal of a deleted search whose rows are slow to delete, as those of large validations on a busy disk are. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, searchStarted, trialCreated } from "../testing/example-events.ts";
import { limitedPool } from "../testing/limited-pool.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({}, (url) => ({ pool: limitedPool(url, 300).pool }));
  await gateway.sql(
    `create function gateway.slowly() returns trigger language plpgsql as
       $$ begin perform pg_sleep(0.01); return old; end $$;
     create trigger slowly before delete on gateway.documents
       for each row when (old.kind in ('run', 'trial')) execute function gateway.slowly()`,
  );
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** Creates a search and deletes it; returns a function that reads which rows are left. */
async function createAndDelete(id: string, trials: number, runs: number) {
  await gateway.append(`experiment-${id}`, created({}));
  await gateway.append(`search-${id}`, searchStarted());
  for (let number = 1; number <= trials; number += 1) {
    const { type, data } = trialCreated(number);
    const requests = Array.from({ length: runs }, (_, index) => requested(index + 1, 0));
    await gateway.append(
      `trial-${id}.${number}`,
      { type, data: { ...data, experiment: id } },
      ...requests,
    );
  }
  const deleted = { type: "ExperimentDeleted", data: {} } as const;
  const position = await gateway.append(`experiment-${id}`, deleted);
  const path = `/api/v1/experiments/${id}?minPosition=${position}`;
  expect((await gateway.call("GET", path)).status).toBe(404);
  return async (): Promise<readonly unknown[]> => {
    const { rows } = await gateway.sql(
      `select kind, count(*) from gateway.documents where kind in ('trial', 'run') group by kind
       union all select 'removed', count(*) from gateway.removed_experiments having count(*) > 0`,
    );
    return rows;
  };
}

const patience = { timeout: 20_000 };

test("trials whose rows are too slow to remove together are removed in smaller pieces", async () => {
  await expect.poll(await createAndDelete("1", 60, 1), patience).toEqual([]);
});

test("a trial with many runs is removed in pieces", async () => {
  await expect.poll(await createAndDelete("2", 2, 100), patience).toEqual([]);
});
