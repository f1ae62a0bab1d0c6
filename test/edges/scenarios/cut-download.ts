/**
 * A file of a checkpoint disappears during its download, and a client disconnects in the middle: only that stream ends.
 */
import { readdirSync, readlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { clusterAccess } from "@trainyard/local-cluster";
import { eventually } from "../../world/eventually.ts";
import type { World } from "../../world/world.ts";
import { bystander, died, endOf, pidsOf, type Scenario } from "./scenario.ts";

const bytes = 256 * 1024 * 1024;
const code = `
import trainyard
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        with open(path / "model", "wb") as file:
            file.truncate(${bytes})
`;

async function open(world: World, uuid: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const access = clusterAccess(world.home);
  const headers = { authorization: `Bearer ${access?.token}` };
  const answer = await fetch(`${access?.api}/api/v1/checkpoints/${uuid}/archive`, { headers });
  if (!answer.ok || answer.body === null)
    throw new Error(`the download answered ${answer.status}: ${await answer.text()}`);
  return answer.body.getReader();
}

/** The number of the gateway's descriptors for files below a folder. */
async function held(world: World, folder: string): Promise<number> {
  const descriptors = `/proc/${await world.pidOf("gateway")}/fd`;
  return readdirSync(descriptors).filter((fd) => {
    try {
      return readlinkSync(join(descriptors, fd)).startsWith(folder);
    } catch {
      return false;
    }
  }).length;
}

export const cutDownload: Scenario = {
  name: "a download whose file changes, and one that is cut",
  run: async (world) => {
    const before = await pidsOf(world);
    world.write("code-large/train.py", code);
    const config =
      "name: large\nentrypoint: python3 train.py\nsearcher: { name: single, metric: loss }\n";
    const id = await world.submit(config, "code-large");
    if ((await endOf(world, id)) !== "COMPLETED") return ["the checkpoint could not be made"];
    const uuid = await storedBy(world, `${id}.1`);
    const folder = join(world.home, "checkpoints", uuid);
    const cut = await open(world, uuid);
    await cut.read();
    await cut.cancel();
    const changed = await open(world, uuid);
    await changed.read();
    truncateSync(join(folder, "model"), 1_000);
    const found: string[] = [];
    try {
      while (!(await changed.read()).done);
      found.push("a download of a file that became shorter ended as if it were whole");
    } catch {
      // The broken stream tells the client that the download is incomplete.
    }
    await eventually("no file is held", async () => (await held(world, folder)) === 0).catch(() =>
      found.push("the gateway still holds files of the checkpoint"),
    );
    return [...found, ...(await bystander(world)), ...(await died(world, before))];
  },
};

/** A checkpoint may become complete, and be reported, shortly after its trial has ended. */
async function storedBy(world: World, trial: string): Promise<string> {
  let uuid = "";
  await eventually("the checkpoint is complete", async () => {
    const { items } = await world.client.call("listCheckpoints", { trial });
    uuid = items.find(({ state }) => state === "COMPLETED")?.uuid ?? "";
    return uuid !== "";
  });
  return uuid;
}
