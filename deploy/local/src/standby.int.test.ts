import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clusterDown, clusterUp } from "./cluster.ts";
import { temporaryHome } from "./testing/homes.ts";

const servicesModule = join(import.meta.dirname, "fixtures", "services.ts");

test("up waits until each service takes commands; a standby does not count", async () => {
  using home = temporaryHome();
  const standby = join(home.blobs, "standby-searcher");
  writeFileSync(standby, "");
  try {
    const { cluster } = await clusterUp({
      home: home.path,
      servicesModule,
      slots: 2,
      processes: true,
    });
    expect(existsSync(standby)).toBe(false);
    const searcher = cluster.processes.find(({ name }) => name === "searcher");
    expect(searcher?.state).toBe("running");
  } finally {
    await clusterDown(home.path, { purge: true });
  }
});
