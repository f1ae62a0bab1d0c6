/** Tests of a home that was moved, or copied and then started or removed beside the original. */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { clusterDown } from "./cluster.ts";
import { homeAt, prepareHome } from "./home/home.ts";
import { ensureSecrets } from "./home/secrets.ts";
import { isAlive } from "./processes/process-identity.ts";
import { packagedPostgres } from "./servers/postgres-binaries.ts";
import { preparePlace } from "./servers/postgres-place.ts";
import { startTestServer, temporaryHome } from "./testing/homes.ts";

const slow = 120_000;

test(
  "the copy of a home neither opens, stops nor removes the database of the original",
  async () => {
    using home = temporaryHome();
    await using server = await startTestServer(home, []);
    const folder = mkdtempSync(join(tmpdir(), "trainyard-copy-"));
    try {
      cpSync(home.path, folder, { recursive: true, filter: (path) => !path.endsWith(".sock") });
      const copy = homeAt(folder);
      const { clusterId } = ensureSecrets(copy, { postgresRoles: [], natsUsers: [] });
      expect
        .soft(preparePlace(copy, clusterId, packagedPostgres()).folder)
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
  using _user = vi.spyOn(process, "getuid").mockReturnValue(1_000);
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

test.runIf(process.getuid?.() === 0)(
  "the removal of a home's copy keeps a database outside of the home, which the original uses",
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "trainyard-root-only-"));
    const home = homeAt(join(parent, "home"));
    let shared = "";
    try {
      prepareHome(home);
      const { clusterId } = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
      shared = join("/var/lib/trainyard", clusterId);
      const { folder } = preparePlace(home, clusterId, packagedPostgres());
      expect(folder).toBe(join(shared, "postgres"));
      cpSync(home.path, join(parent, "copy"), { recursive: true });
      await clusterDown(join(parent, "copy"), { purge: true });
      expect(existsSync(folder)).toBe(true);
    } finally {
      if (shared !== "") rmSync(shared, { recursive: true, force: true });
      rmSync(parent, { recursive: true, force: true });
    }
  },
  slow,
);
