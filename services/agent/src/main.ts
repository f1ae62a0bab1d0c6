import { runMain } from "@trainyard/runtime";
import { parseConfig, readEnv } from "./config.ts";
import { createService } from "./service.ts";

await runMain(async () => {
  const service = await createService(parseConfig(readEnv()));
  // SIGTERM leaves the runs to the next agent; SIGUSR2 says that there will be none, so they end first.
  process.on("SIGUSR2", () => {
    void service.shutDownRuns().finally(() => process.kill(process.pid, "SIGTERM"));
  });
  return service;
});
