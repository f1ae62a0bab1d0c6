// npm start: starts the embedded cluster and runs a search on it, from submission to the best model.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "@trainyard/kernel/program-file";
import { useCompiledPrograms } from "../lib/programs/compiled-programs.ts";
import { root } from "../lib/root.ts";

await useCompiledPrograms();
await import(pathToFileURL(programFile(join(root, "services/cli/demo/main.ts"))).href);
