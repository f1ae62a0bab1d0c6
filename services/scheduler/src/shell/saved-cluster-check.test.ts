import { expect, test } from "vitest";
import { snapshotSchema, writeSnapshot } from "../core/cluster/snapshot.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";
import { snapshotStream } from "./follower.ts";
import { savedClusterCheck } from "./saved-cluster-check.ts";

/** A world in which all settings that users can change are changed, in the middle of a drain. */
async function changed(): Promise<World> {
  const world = await World.open();
  await world.scheduler();
  const settings = { preemption: false, quotas: [{ workspace: "lab", slots: 3, borrow: true }] };
  const pool = { pool: "default", policy: "fair_share", settings, create: true };
  await send(world, "ConfigurePool", pool);
  for (const name of ["a1", "a2", "a3"]) await world.agent(name, 2);
  const gone = world.agents[2];
  if (gone !== undefined) gone.silent = true;
  for (const job of [1, 2, 3, 4, 5, 6, 7, 8]) await world.run(`${job}.1#1`);
  await world.advance(35_000);
  await send(world, "UpdateJob", { job: "8", priority: 7, maxSlots: 4 });
  await send(world, "MoveJob", { job: "7", anchor: "8", ahead: true });
  const why = { reason: "a fan", drain: true, deadlineMs: 600_000 };
  await send(world, "DisableAgent", { agent: "a1", slot: "", ...why });
  await send(world, "DisableAgent", { agent: "a2", slot: "1", ...why });
  await send(world, "RemoveAgent", { agent: "a3", reason: "", force: false });
  return world;
}

async function findingOf(world: World, saved: string): Promise<string> {
  const log = world.log.as("scheduler");
  await log.saveSnapshot(snapshotStream, 1, snapshotSchema, saved);
  const { finding } = await savedClusterCheck(log).run(new AbortController().signal);
  return finding;
}

test("a saved cluster with pools, drains and changed experiments equals a rebuild", async () => {
  await using world = await changed();
  expect(await findingOf(world, writeSnapshot(world.fold()))).toBe("");
});

test.each([
  ["priority", '"priority":7,"maxSlots"', '"priority":8,"maxSlots"', "job 8 in pool default"],
  ["policy of a pool", '"fair_share"', '"round_robin"', "pool default"],
  ["drain", '"state":"draining"', '"state":"drained"', "agent a"],
  ["grace", '"graceMs":600000', '"graceMs":600001', "allocation "],
])("a saved cluster with another %s is detected", async (_, is, other, name) => {
  await using world = await changed();
  const saved = writeSnapshot(world.fold());
  expect(saved).toContain(is);
  expect(await findingOf(world, saved.replace(is, other))).toContain(
    `the first that differs is ${name}`,
  );
});
