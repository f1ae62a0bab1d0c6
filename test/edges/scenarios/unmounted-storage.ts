/**
 * The checkpoint storage is unmounted for a while, with an empty folder at its path. A checkpoint stored before is
 * neither failed nor deleted, and is complete once the storage is back.
 */
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../world/eventually.ts";
import { bystander, type Scenario, storesWithoutRegistry } from "./scenario.ts";

const unmountedMs = 20_000;

export const unmountedStorage: Scenario = {
  name: "a storage that is not mounted while a checkpoint is completed",
  run: async (world) => {
    const found = [...(await bystander(world))];
    const registry = await world.pidOf("registry");
    const { id, state } = await storesWithoutRegistry(world, registry, "stores");
    if (state !== "COMPLETED") found.push(`its experiment is ${state}`);
    const storage = join(world.home, "checkpoints");
    renameSync(storage, `${storage}.mounted`);
    mkdirSync(storage);
    process.kill(registry, "SIGCONT");
    await delay(unmountedMs);
    const states = async (): Promise<readonly string[]> => {
      const { items } = await world.client.call("listCheckpoints", { trial: `${id}.1` });
      return items.map((one) => `${one.state} ${one.reason}`.trim());
    };
    const meanwhile = await states();
    if (meanwhile.some((text) => !text.startsWith("ACTIVE"))) {
      found.push(`while the storage was away its checkpoint was ${meanwhile.join()}`);
    }
    renameSync(storage, `${storage}.empty`);
    renameSync(`${storage}.mounted`, storage);
    await eventually(
      "it is complete",
      async () => (await states()).some((text) => text.startsWith("COMPLETED")),
      300_000,
    ).catch(async () => found.push(`its checkpoint is ${(await states()).join() || "not known"}`));
    return found;
  },
};
