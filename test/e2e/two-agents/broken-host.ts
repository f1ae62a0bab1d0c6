/** A host on which every run fails, and a folder of all hosts that is away: neither ends a trial. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

const config = (trials: number, concurrent: number, script: string): string => `
name: tried
entrypoint: >-
  ${script}
searcher: { name: random, metric: loss, max_trials: ${trials}, max_concurrent_trials: ${concurrent} }
hyperparameters: { n: { type: int, minval: 1, maxval: 1000000 } }
resources: { slots_per_trial: 1 }
max_restarts: 2
`;

async function failedOf(experiment: string): Promise<readonly string[]> {
  const { items } = await world.client.call("listTrials", { experiment, pageSize: 100 });
  return items.flatMap(({ id, state, reason }) =>
    state === "COMPLETED" ? [] : [`${id}: ${state}: ${reason}`],
  );
}

test("a sweep beside a host on which every run fails completes, and the host gets no runs", async () => {
  const script = 'case "$TRAINYARD_RUN_DIR" in */agent-2/*) exit 1;; esac; sleep 0.3';
  const id = await world.submit(config(24, 24, script), world.code("noop"));
  const state = await world.end(id);
  expect(await failedOf(id)).toEqual([]);
  expect(state).toBe("COMPLETED");
  const { out } = await world.yard("agent", "describe", "agent-2");
  expect(out).toMatch(/gets no runs +not before .*: its last \d+ runs failed \(/);
  await world.client.call("trustAgent", { name: "agent-2" });
}, 120_000);

test("experiments whose folder is away for seconds complete, none of its trials in error", async () => {
  const folder = join(world.folder, "file-server");
  mkdirSync(folder);
  const script = `for step in 1 2 3 4 5; do test -d ${folder} || exit 1; sleep 0.2; done`;
  // One trial at a time each, so that all three train while the folder is away.
  const submit = () => world.submit(config(8, 1, script), world.code("noop"));
  const ids = [await submit(), await submit(), await submit()];
  // Only failures of experiments of which a run has done well speak for the folder.
  await Promise.all(
    ids.map((id) =>
      world.untilTrials(id, (trials) => trials.some(({ state }) => state === "COMPLETED")),
    ),
  );
  rmSync(folder, { recursive: true });
  await delay(3_000);
  mkdirSync(folder);
  for (const id of ids) {
    await world.end(id);
    expect(await failedOf(id)).toEqual([]);
  }
  for (const name of ["agent-1", "agent-2"]) await world.client.call("trustAgent", { name });
}, 120_000);
