import { writeFileSync } from "node:fs";
import { readEnvironment, runMain } from "@trainyard/runtime";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

await runMain(async () => {
  protectFromMemoryKiller();
  const service = await createService(parseConfig(readEnvironment()));
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
