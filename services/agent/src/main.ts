import { readEnvironment, runMain } from "@trainyard/runtime";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

await runMain(async () => {
  const service = await createService(parseConfig(readEnvironment()));
  // SIGTERM leaves the runs to the next agent; SIGUSR2 ends them first, since no agent will follow.
  process.on("SIGUSR2", () => {
    void service.shutDownRuns().finally(() => process.kill(process.pid, "SIGTERM"));
  });
  return service;
});
