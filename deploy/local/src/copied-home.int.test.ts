/** Tests of a home that was moved, or copied and then started or removed beside the original. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { Client } from "pg";
import { clusterDown, clusterStatus, clusterUp, type UpOptions } from "./cluster.ts";
import { type Home, homeAt, prepareHome } from "./home/home.ts";
import { settleHome } from "./home-path.ts";
import { ensureSecrets } from "./home/secrets.ts";
import { isAlive, type ProcessIdentity } from "./processes/process-identity.ts";
import { packagedPostgres } from "./servers/postgres-binaries.ts";
import { type PostgresPlace, preparePlace } from "./servers/postgres-place.ts";
import { drawnPort, secretsOf, startTestServer, temporaryHome } from "./testing/homes.ts";
import { waitUntil } from "./processes/wait.ts";

const slow = 180_000;

const up = (home: string, options: UpOptions = {}): ReturnType<typeof clusterUp> =>
  clusterUp({
    home,
    servicesModule: join(import.meta.dirname, "fixtures", "services.ts"),
    slots: 1,
    ...options,
  });

function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}

function trialOf(home: string): ProcessIdentity {
  const file = join(homeAt(home).agents, "agent-1", "runs", "1", "process.json");
  return JSON.parse(readFileSync(file, "utf8")) as ProcessIdentity;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test(
  "a moved home is refused until it is declared as moved, and a copy until it is declared as one: then both run, and the removal of the copy leaves the original alone",
  async () => {
    using first = temporaryHome();
    const home = `${first.path}-moved`;
    const beside = `${first.path}-copy`;
    try {
      // All clusters prefer port 8080: between the two starts, another one could take it.
      writeFileSync(first.portsFile, JSON.stringify({ gateway: await drawnPort() }));
      const started = await up(first.path);
      await query(started.cluster.postgresUrl, "create table kept as select 1 as n");
      await clusterDown(first.path);
      const secrets = secretsOf(first);
      renameSync(first.path, home);
      const refusal = `The home ${realpathSync(home)} was at ${first.path} when its cluster was started`;
      await expect(up(home)).rejects.toThrow(refusal);
      await expect(clusterDown(home, { purge: true })).rejects.toThrow(refusal);
      expect(await clusterStatus(home)).toBeNull();

      const moved = await up(home, { arrival: "moved" });
      expect(secretsOf(homeAt(home))).toEqual(secrets);
      expect(moved.cluster.api).toBe(started.cluster.api);
      expect(await query(moved.cluster.postgresUrl, "select n from kept")).toEqual([{ n: 1 }]);
      const trial = trialOf(home);

      // Without its supervisor the cluster ends, and its run continues: the copy has the folder of a living run.
      process.kill(moved.cluster.processes[0]?.pid ?? 0, "SIGKILL");
      const { pid: postgres = 0 } = moved.cluster.processes[1] ?? {};
      expect(await waitUntil(() => !existsSync(`/proc/${postgres}`), 90_000)).toBe(true);
      copy(home, beside);
      const original = await up(home);
      await expect(up(beside)).rejects.toThrow("if it is a copy");
      await expect(clusterDown(beside)).rejects.toThrow("if it is a copy");
      const copied = await up(beside, { arrival: "copy" });
      expect(copied.alreadyUp).toBe(false);
      expect(secretsOf(homeAt(beside)).clusterId).not.toBe(secrets.clusterId);
      expect(copied.cluster.api).not.toBe(original.cluster.api);
      expect(await query(copied.cluster.postgresUrl, "select n from kept")).toEqual([{ n: 1 }]);
      expect(trialOf(beside).pid).not.toBe(trial.pid);
      await clusterDown(beside);
      // The copy remembers its path, so a later start needs no word. Another cluster may have taken its port.
      expect((await up(beside)).alreadyUp).toBe(false);
      await clusterDown(beside, { purge: true });
      expect(existsSync(beside)).toBe(false);
      expect(await clusterStatus(home)).toEqual(original.cluster);
      expect(trialOf(home)).toEqual(trial);
      expect(isAlive(trial)).toBe(true);
    } finally {
      for (const path of [first.path, home, beside]) {
        await clusterDown(path, { purge: true }).catch(() => {});
        rmSync(path, { recursive: true, force: true });
      }
    }
  },
  slow,
);

/** The place of a home's database, as a start of its cluster finds it. */
function placeOf(home: Home, arrival: UpOptions["arrival"] = null): PostgresPlace {
  prepareHome(home);
  settleHome(home, arrival);
  const { clusterId } = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
  return preparePlace(home, clusterId, packagedPostgres());
}

/** A folder that only root may enter: root's homes in it have their databases in /var/lib/trainyard. */
function rootOnlyFolder(skip: TestContext["skip"]) {
  if (process.getuid?.() !== 0)
    skip("needs what is not here: root, who gives files to other users");
  const path = mkdtempSync(join(tmpdir(), "trainyard-root-only-"));
  const removed = [path];
  return {
    home: (name: string): Home => homeAt(join(path, name)),
    remove: (folder: string): void => void removed.push(folder),
    [Symbol.dispose]: () => {
      for (const folder of removed) rmSync(folder, { recursive: true, force: true });
    },
  };
}

test("a database outside of the home follows the home that was moved, or restored in its place, and no other copy of it", async ({
  skip,
}) => {
  using parent = rootOnlyFolder(skip);
  const [home, moved, aside] = [parent.home("home"), parent.home("moved"), parent.home("aside")];
  const { folder } = placeOf(home);
  parent.remove(dirname(folder));
  renameSync(home.path, moved.path);
  expect(() => placeOf(moved)).toThrow(`was at ${home.path} when its cluster was started`);
  expect(placeOf(moved, "moved").folder).toBe(folder);
  // The restore of docs/operate/backup.md: the home moves away, and its backup gets its place.
  renameSync(moved.path, aside.path);
  copy(aside.path, moved.path);
  expect(placeOf(moved).folder).toBe(folder);
  // The home that was moved away is now a copy, whatever a person says, and its removal keeps the database.
  expect(() => placeOf(aside, "moved")).toThrow(`belongs to the home ${moved.path}`);
  await expect(clusterDown(aside.path, { purge: true })).rejects.toThrow("if it is a copy");
  // The same cluster id leads to the same folder.
  rmSync(aside.placeFile);
  writeFileSync(aside.pathFile, `${aside.path}\n`);
  expect(() => placeOf(aside)).toThrow(`belongs to the home ${moved.path}`);
  await clusterDown(aside.path, { purge: true });
  expect(existsSync(folder)).toBe(true);
});

test(
  "a copy whose original has its database outside names the folder for a database of its own, runs beside the original, and its removal keeps the original's",
  async ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const [home, restored] = [parent.home("home"), parent.home("restored")];
    placeOf(home);
    const original = await startTestServer(home, []);
    const shared = dirname(original.place.folder);
    parent.remove(shared);
    await query(original.adminUrl, "create table kept as select 1 as n");
    await original[Symbol.asyncDispose]();
    // The steps of docs/operate/backup.md.
    copy(home.path, restored.path);
    expect(() => placeOf(restored, "copy")).toThrow("put its copy there");
    const own = join("/var/lib/trainyard", secretsOf(restored).clusterId);
    expect(own).not.toBe(shared);
    expect(() => placeOf(restored)).toThrow(`The database of this home, ${own}/postgres,`);
    parent.remove(own);
    copy(shared, own);
    await original.start();
    {
      await using _ = original;
      await using server = await startTestServer(restored, []);
      expect(server.place.folder).toBe(join(own, "postgres"));
      expect(server.port).not.toBe(original.port);
      expect(await query(server.adminUrl, "select n from kept")).toEqual([{ n: 1 }]);
    }
    await clusterDown(restored.path, { purge: true });
    expect(existsSync(own)).toBe(false);
    expect(existsSync(original.place.folder)).toBe(true);
    await clusterDown(home.path, { purge: true });
    expect(existsSync(shared)).toBe(false);
  },
  slow,
);

test("a home whose database outside of it is missing is refused, and no empty database is created", () => {
  using home = temporaryHome();
  const folder = join(home.path, "missing", "postgres");
  writeFileSync(home.placeFile, JSON.stringify({ folder }));
  expect(() => placeOf(home)).toThrow(`The database of this home, ${folder}, is missing`);
  expect(existsSync(folder)).toBe(false);
});

test("a home that is reached by a link is at its path", () => {
  using home = temporaryHome();
  settleHome(home, null);
  const link = homeAt(`${home.path}-link`);
  mkdirSync(dirname(link.path), { recursive: true });
  execFileSync("ln", ["-s", home.path, link.path]);
  try {
    expect(() => settleHome(link, null)).not.toThrow();
  } finally {
    rmSync(link.path);
  }
});
