/**
 * A directory and a bucket that two clusters name, and a cluster that was restored while they kept their content. Their
 * markers name the first cluster's log, and an event that the restored log does not have.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { seenStore, storageMarkerName } from "@trainyard/blob";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";
import { dataFolder } from "./restored-log.ts";
import { endOf } from "./scenarios/scenario.ts";

const code = `
import trainyard
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_text("trained")
`;

type Storage = {
  readonly name: string;
  /** The section of a configuration, on one line. */
  readonly section: string;
  /** The text, or the content, of the marker. */
  readonly marker: () => Promise<string>;
};

/** Returns a sentence for each violation; none if no cluster touches what another history has stored. */
export async function sharedStorage(log: (line: string) => void): Promise<readonly string[]> {
  const found: string[] = [];
  await using server = await S3Server.start({ buckets: ["models"] });
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const opened = { bucket: "models", prefix: "", endpoint: server.url, credentials: testUser };
  await using store = openS3Store({ ...opened, clock: systemClock });
  process.env["TRAINYARD_STORAGE_ENDPOINTS"] = server.url;
  process.env["AWS_ACCESS_KEY_ID"] = access_key_id;
  process.env["AWS_SECRET_ACCESS_KEY"] = secret_access_key;
  await using first = await World.start({ processes: true, slots: 2 });
  const root = join(first.folder, "shared");
  const storages: readonly Storage[] = [
    {
      name: root,
      section: `{ type: directory, container_path: ${root} }`,
      marker: async () => readFileSync(join(root, storageMarkerName), "utf8"),
    },
    {
      name: `s3://models at ${server.url}`,
      section: `{ type: s3, bucket: models, endpoint_url: "${server.url}" }`,
      marker: async () => JSON.stringify(await seenStore(store)),
    },
  ];
  for (const storage of storages) found.push(...(await trained(first, storage)));
  log("a second cluster names the storages");
  found.push(...(await secondCluster(storages)));
  await first.down();
  const data = dataFolder(first);
  const copy = join(first.folder, "copy-of-the-database");
  execFileSync("cp", ["-a", data, copy]);
  await first.up();
  for (const storage of storages) {
    const before = await storage.marker();
    found.push(...(await trained(first, storage)));
    const isRenewed = async (): Promise<boolean> => (await storage.marker()) !== before;
    await eventually(`${storage.name} is renewed`, isRenewed);
  }
  await first.down();
  log("the database is put back to its copy");
  execFileSync("rm", ["-rf", data]);
  execFileSync("cp", ["-a", copy, data]);
  await first.up();
  for (const storage of storages) found.push(...(await afterRestore(first, storage)));
  return found;
}

/** Trains an experiment of one trial with one checkpoint in the storage. */
async function trained(world: World, { name, section }: Storage): Promise<readonly string[]> {
  world.write("code-stores/train.py", code);
  const config = `
name: stores
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
checkpoint_storage: ${section}
`;
  const id = await world.submit(config, "code-stores");
  const state = await endOf(world, id);
  if (state !== "COMPLETED") return [`an experiment in ${name} is ${state}`];
  const isComplete = async (): Promise<boolean> => {
    const { items } = await world.client.call("listCheckpoints", { trial: `${id}.1` });
    return items.some((one) => one.state === "COMPLETED");
  };
  await eventually(`the checkpoint in ${name} is complete`, isComplete);
  return [];
}

async function secondCluster(storages: readonly Storage[]): Promise<readonly string[]> {
  await using second = await World.start({ processes: true, slots: 2 });
  const found: string[] = [];
  for (const storage of storages) {
    const before = await storage.marker();
    const refused = await trained(second, storage).then(
      () => "nothing",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (!refused.includes("belongs to another cluster")) {
      found.push(`a second cluster that names ${storage.name} gets the answer ${refused}`);
    }
    if ((await storage.marker()) !== before) found.push(`a second cluster marks ${storage.name}`);
  }
  return found;
}

async function afterRestore(world: World, storage: Storage): Promise<readonly string[]> {
  const { name } = storage;
  const before = await storage.marker();
  const found = [...(await trained(world, storage))];
  const heldOf = async (): Promise<string> => {
    const { items } = await world.client.call("listStorages", {});
    return items.find((one) => one.root === name)?.held ?? "";
  };
  const held = await heldOf();
  if (!held.includes("does not have it")) found.push(`${name} is held because of "${held}"`);
  if ((await storage.marker()) !== before) found.push(`the restored cluster marks ${name}`);
  const adopted = await world.yard("storage", "adopt", name);
  if (adopted.code !== 0) found.push(`storage adopt ${name}: ${adopted.err}`);
  const left = await heldOf();
  if (left !== "") found.push(`${name} is held after its adoption: ${left}`);
  return found;
}
