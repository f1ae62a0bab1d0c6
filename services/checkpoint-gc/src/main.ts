import { runMain } from "@trainyard/runtime";
import { parseConfig, readEnv } from "./config.ts";
import { createService } from "./service.ts";

await runMain(() => createService(parseConfig(readEnv())));
