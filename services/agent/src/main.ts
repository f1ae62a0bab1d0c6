import { writeFileSync } from "node:fs";
import { Fault } from "@trainyard/kernel";
import { readEnvironment, runMain } from "@trainyard/runtime";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

await runMain(async () => {
  protectFromMemoryKiller();
  const config = parseConfig(readEnvironment());
  const service = await createService(config).catch((error: unknown) => {
    throw isFull(error) ? diskFull(config.folder, error) : error;
  });
  // SIGTERM leaves the runs to the next agent; SIGUSR2 ends them first, since no agent will follow.
  process.on("SIGUSR2", () => {
    void service.shutDownRuns().finally(() => process.kill(process.pid, "SIGTERM"));
  });
  return service;
});

/** The kernel kills a run for memory, and not its agent. Only root may do this. */
function protectFromMemoryKiller(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "-900");
  } catch {
    // The agent is not root, or the host is not Linux.
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOSPC";
}

/** Node does not name the path of a failed write. */
function diskFull(folder: string, cause: unknown): Fault {
  const detail = `the disk with TRAINYARD_AGENT_DIR (${folder}) is full: free some space`;
  return new Fault("disk_full", detail, { retry: "later", cause });
}
