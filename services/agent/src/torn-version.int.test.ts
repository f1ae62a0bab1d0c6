/** Tests of an agent whose folder has a VERSION that a full disk or a power cut left empty. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { afterAll, expect, test } from "vitest";
import { createService } from "./service.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { newFolder, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);

test("an empty VERSION, as a full disk or a power cut leaves it, keeps no agent from starting", async () => {
  const folder = newFolder();
  const config = { ...agentConfig("http://127.0.0.1:1"), folder };
  writeFileSync(join(folder, "VERSION"), "");
  const bus = createMemoryBus().connect("agent-rack");
  const logger = createLogger("agent", "silent");
  await using _ = await createService(config, { bus, logger });
  expect(readFileSync(join(folder, "VERSION"), "utf8")).toBe("1\n");
});
