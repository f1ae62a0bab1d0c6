import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { createService } from "../service.ts";
import { folderNameOf } from "../state/layout.ts";
import { agentConfig } from "./agent-config.ts";
import { launchOf, runAt } from "./examples.ts";
import { ScriptedPlatform } from "./scripted-platform.ts";

const lookMs = 50;

/** Starts an agent in this process, as its tests do, with a run that sleeps. Returns the pids of supervisor and run. */
export async function startSleepingRun(): Promise<{ supervisor: number; run: number }> {
  const hub = createMemoryBus();
  const platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const config = agentConfig(platform.url);
  const logger = createLogger("agent", "silent");
  const agent = await createService(config, { bus: hub.connect("agent-rack"), logger });
  await agent.start();
  const launch = launchOf("exec sleep 1000");
  platform.run(launch);
  const path = join(config.folder, "runs", folderNameOf(launch));
  for (;;) {
    const folder = runAt(path);
    if (folder?.process != null && folder.supervisor !== null) {
      return { supervisor: folder.supervisor.pid, run: folder.process.pid };
    }
    await pause(systemClock, lookMs);
  }
}
