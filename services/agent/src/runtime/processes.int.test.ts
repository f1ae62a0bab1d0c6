/** The orders to start runs as processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { expect, test } from "vitest";
import { RunFolder } from "../state/run-folder.ts";
import { ownVariables } from "../testing/agent-config.ts";
import { launchOf } from "../testing/examples.ts";
import { RunUsers } from "../users/run-users.ts";
import { processRuntime } from "./processes.ts";

const inherited = { ...ownVariables(), SSH_AUTH_SOCK: "/tmp/ssh/agent", IPC: "/dev/shm/ipc" };
const storages = { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null };

test("variables that the agent inherited leave a run its own /tmp, and those of its configuration do not", async () => {
  // A state folder below /tmp would keep the host's /tmp.
  const runs = mkdtempSync("/var/tmp/trainyard-orders-");
  const runtime = processRuntime({
    apiUrl: "",
    metricsUrl: "",
    sdkPath: null,
    inherited,
    asked: "auto",
    mechanism: "parent",
    slotLimits: { memoryBytes: null, pids: null },
    isSeparate: true,
    python: [],
    users: new RunUsers(null),
  });
  const ownOf = async (...environmentVariables: string[]) => {
    const folder = RunFolder.create(runs, launchOf("true", { environmentVariables }), systemClock);
    const given = { folder, work: folder.newWork(), slots: [], hostSlots: 4, storages };
    const onProgress = (): void => {};
    const order = await runtime.order({ ...given, onProgress }, AbortSignal.timeout(1_000));
    return "own" in order ? order.own : undefined;
  };
  try {
    expect(runtime.sharesMemory).toBe(true);
    const own = await ownOf();
    expect(own?.shm).toBe(Math.floor(totalmem() / 8));
    expect(own?.tmp).toMatch(join(runs, ""));
    expect(await ownOf("DATA=/tmp/images", "IPC=/dev/shm/ipc")).toEqual({ shm: null, tmp: null });
  } finally {
    rmSync(runs, { recursive: true });
  }
});
