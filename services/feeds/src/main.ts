import { readEnvironment, runMain } from "@trainyard/runtime";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

await runMain(() => createService(parseConfig(readEnvironment())));
