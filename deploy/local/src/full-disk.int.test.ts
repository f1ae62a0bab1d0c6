import { mkdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clusterDown, clusterStatus, clusterUp } from "./cluster.ts";
import type { ClusterInfo } from "./cluster-info.ts";
import { limits } from "./limits.ts";
import { waitUntil } from "./processes/wait.ts";
import { temporaryHome } from "./testing/homes.ts";

const pidOf = (cluster: ClusterInfo | null, name: string): number | null | undefined =>
  cluster?.processes.find((one) => one.name === name)?.pid;

test("a supervisor that can write neither its state nor the copy of a log, as on a full disk, keeps the cluster", async () => {
  using home = temporaryHome();
  const servicesModule = join(import.meta.dirname, "fixtures", "services.ts");
  try {
    const { cluster } = await clusterUp({ home: home.path, servicesModule });
    // A folder that is not empty refuses the file of its name.
    rmSync(home.clusterFile);
    const log = join(home.logs, "nats.log");
    for (const path of [home.clusterFile, `${log}.1`]) {
      mkdirSync(join(path, "full"), { recursive: true });
    }
    truncateSync(log, limits.logBytesMax + 1);
    const [supervisor, nats] = ["supervisor", "nats"].map((name) => pidOf(cluster, name) ?? 0);
    process.kill(nats ?? 0, "SIGKILL");
    const isBack = await waitUntil(async () => {
      const now = await clusterStatus(home.path);
      const one = now?.processes.find(({ name }) => name === "nats");
      return one?.state === "running" && one.pid !== nats;
    }, 90_000);
    expect(isBack).toBe(true);
    const hasEnded = async () => pidOf(await clusterStatus(home.path), "supervisor") !== supervisor;
    expect(await waitUntil(hasEnded, limits.logCheckMs + 1_000)).toBe(false);
  } finally {
    rmSync(home.clusterFile, { recursive: true, force: true });
    await clusterDown(home.path);
  }
}, 180_000);
