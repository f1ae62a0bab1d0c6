/** Tests of a home that was moved, or copied and then started or removed beside the original. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { Client } from "pg";
import { clusterDown, clusterStatus, clusterUp } from "./cluster.ts";
import { type Home, homeAt, prepareHome } from "./home/home.ts";
import { ensureSecrets } from "./home/secrets.ts";
import { identityOf, isAlive } from "./processes/process-identity.ts";
import { packagedPostgres } from "./servers/postgres-binaries.ts";
import { type PostgresPlace, preparePlace } from "./servers/postgres-place.ts";
import { startTestServer, temporaryHome } from "./testing/homes.ts";

const slow = 180_000;

/** The place of a home's database, as a start of its cluster finds it. */
function placeOf(home: Home): PostgresPlace {
  prepareHome(home);
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

function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
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
  "the copy of a home neither opens, stops nor removes the database of the original",
  async () => {
    using home = temporaryHome();
    await using server = await startTestServer(home, []);
    const folder = mkdtempSync(join(tmpdir(), "trainyard-copy-"));
    try {
      cpSync(home.path, folder, { recursive: true, filter: (path) => !path.endsWith(".sock") });
      const restored = homeAt(folder);
      prepareHome(restored);
      const { clusterId } = ensureSecrets(restored, { postgresRoles: [], natsUsers: [] });
      expect
        .soft(preparePlace(restored, clusterId, packagedPostgres()).folder)
        .not.toBe(server.place.folder);
      await clusterDown(folder, { purge: true });
      expect.soft(existsSync(join(server.place.folder, "data", "PG_VERSION"))).toBe(true);
      expect.soft(isAlive(server.process)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  slow,
);

test("a home that was moved with its database opens that database, not an empty one at the old path", () => {
  const parent = mkdtempSync(join(tmpdir(), "trainyard-moved-"));
  // Root's server, which runs as another user, must reach the homes.
  chmodSync(parent, 0o711);
  try {
    const before = homeAt(join(parent, "before"));
    prepareHome(before);
    const { clusterId } = ensureSecrets(before, { postgresRoles: [], natsUsers: [] });
    expect(preparePlace(before, clusterId, packagedPostgres()).folder).toBe(before.postgres);
    renameSync(before.path, join(parent, "after"));
    const after = homeAt(join(parent, "after"));
    prepareHome(after);
    expect(preparePlace(after, clusterId, packagedPostgres()).folder).toBe(after.postgres);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});

test(
  "the removal of a home's copy keeps a database outside of the home, which the original uses",
  async ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const home = parent.home("home");
    prepareHome(home);
    const { clusterId } = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
    const shared = join("/var/lib/trainyard", clusterId);
    parent.remove(shared);
    const { folder } = preparePlace(home, clusterId, packagedPostgres());
    expect(folder).toBe(join(shared, "postgres"));
    copy(home.path, parent.home("copy").path);
    await clusterDown(parent.home("copy").path, { purge: true });
    expect(existsSync(parent.home("copy").path)).toBe(false);
    expect(existsSync(folder)).toBe(true);
  },
  slow,
);

test(
  "the copy of a running cluster's home shows no process, its removal ends none, and a start of it has a database of its own",
  async () => {
    using home = temporaryHome();
    const folder = `${home.path}-copy`;
    const options = {
      servicesModule: join(import.meta.dirname, "fixtures", "services.ts"),
      slots: 1,
    };
    try {
      const { cluster } = await clusterUp({ home: home.path, ...options });
      const processes = cluster.processes.flatMap(({ pid }) => identityOf(pid ?? 0) ?? []);
      expect(processes).toHaveLength(5);
      copy(home.path, folder);
      expect(await clusterStatus(folder)).toBeNull();
      await clusterDown(folder, { purge: true });
      expect(existsSync(folder)).toBe(false);
      expect(processes.filter(isAlive)).toHaveLength(5);

      await clusterDown(home.path);
      copy(home.path, folder);
      const again = await clusterUp({ home: home.path, ...options });
      const beside = await clusterUp({ home: folder, ...options });
      expect(beside.alreadyUp).toBe(false);
      const data = await query(beside.cluster.postgresUrl, "show data_directory");
      expect(data).toEqual([{ data_directory: join(folder, "postgres", "data") }]);
      await clusterDown(folder);
      expect(await clusterStatus(home.path)).toEqual(again.cluster);
    } finally {
      await clusterDown(folder, { purge: true });
      await clusterDown(home.path, { purge: true });
    }
  },
  slow,
);

test(
  "the copy of a home with its database outside is refused beside the original, and does not stop its server",
  async ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const home = parent.home("home");
    prepareHome(home);
    await using server = await startTestServer(home, []);
    parent.remove(dirname(server.place.folder));
    copy(home.path, parent.home("copy").path);
    expect(() => placeOf(parent.home("copy"))).toThrow(
      `is a copy of ${home.path}, and the database in ${server.place.folder} belongs to that home`,
    );
    await clusterDown(parent.home("copy").path);
    expect(isAlive(server.process)).toBe(true);
    // Without the file that names the folder, too: the cluster id is the same.
    rmSync(parent.home("copy").placeFile);
    expect(() => placeOf(parent.home("copy"))).toThrow("belongs to that home");
  },
  slow,
);

test(
  "a database outside of the home follows the home that was renamed, restored in place, or moved to another disk",
  ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const [home, renamed, moved] = [parent.home("home"), parent.home("new"), parent.home("moved")];
    const { folder } = placeOf(home);
    parent.remove(dirname(folder));
    renameSync(home.path, renamed.path);
    // A copy at the old path is not the renamed home.
    copy(renamed.path, home.path);
    expect(placeOf(renamed).folder).toBe(folder);
    expect(() => placeOf(home)).toThrow(`is a copy of ${renamed.path}`);
    rmSync(home.path, { recursive: true });
    // The new folder has another inode, and the old one is gone.
    copy(renamed.path, moved.path);
    rmSync(renamed.path, { recursive: true });
    expect(placeOf(moved).folder).toBe(folder);
    // The restore of docs/operate/backup.md: the home moves away, and its backup gets its place.
    renameSync(moved.path, renamed.path);
    copy(renamed.path, moved.path);
    expect(placeOf(moved).folder).toBe(folder);
    expect(() => placeOf(renamed)).toThrow(`is a copy of ${moved.path}`);
  },
  slow,
);

test(
  "a restored copy with its own folder in /var/lib/trainyard runs beside the original, and its removal keeps the original's",
  async ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const [home, restored] = [parent.home("home"), parent.home("restored")];
    prepareHome(home);
    const original = await startTestServer(home, []);
    const shared = dirname(original.place.folder);
    parent.remove(shared);
    await query(original.adminUrl, "create table kept as select 1 as n");
    await original[Symbol.asyncDispose]();
    // The steps of docs/operate/backup.md.
    copy(home.path, restored.path);
    copy(shared, `${shared}-restored`);
    parent.remove(`${shared}-restored`);
    execFileSync("sed", ["-i", 's|/postgres"|-restored/postgres"|', restored.placeFile]);
    await original.start();
    {
      await using _ = original;
      await using server = await startTestServer(restored, []);
      expect(server.place.folder).toBe(join(`${shared}-restored`, "postgres"));
      expect(server.port).not.toBe(original.port);
      expect(await query(server.adminUrl, "select n from kept")).toEqual([{ n: 1 }]);
    }
    await clusterDown(restored.path, { purge: true });
    expect(existsSync(`${shared}-restored`)).toBe(false);
    expect(existsSync(original.place.folder)).toBe(true);
    await clusterDown(home.path, { purge: true });
    expect(existsSync(shared)).toBe(false);
  },
  slow,
);

test("a home whose database outside of it is missing is refused, and no empty database is created", () => {
  using home = temporaryHome();
  const folder = join(home.path, "missing", "postgres");
  writeFileSync(home.placeFile, JSON.stringify({ folder, relocated: true }));
  expect(() => placeOf(home)).toThrow(`The database of this home, ${folder}, is missing`);
  expect(existsSync(folder)).toBe(false);
});

test("a home of an earlier version uses its database: the one inside, although a file names its old path", () => {
  using home = temporaryHome();
  const kept = { folder: "/home/before/postgres", user: null, relocated: false };
  writeFileSync(home.placeFile, JSON.stringify(kept));
  expect(placeOf(home).folder).toBe(home.postgres);
});

test(
  "a home of an earlier version uses its database outside, which then belongs to it",
  async ({ skip }) => {
    using parent = rootOnlyFolder(skip);
    const home = parent.home("home");
    const { folder } = placeOf(home);
    parent.remove(dirname(folder));
    mkdirSync(join(folder, "data"));
    rmSync(join(dirname(folder), "home.json"));
    writeFileSync(home.placeFile, JSON.stringify({ folder, user: "nobody", relocated: true }));
    expect(placeOf(home).folder).toBe(folder);
    const recorded = readFileSync(join(dirname(folder), "home.json"), "utf8");
    expect(JSON.parse(recorded)).toMatchObject({ home: home.path });
    await clusterDown(home.path, { purge: true });
    expect(existsSync(folder)).toBe(false);
  },
  slow,
);
