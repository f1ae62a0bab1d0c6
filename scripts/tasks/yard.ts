// npm run -s yard -- …: the command line of this checkout.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "@trainyard/kernel/program-file";
import { useCompiledPrograms } from "../lib/programs/compiled-programs.ts";
import { root } from "../lib/root.ts";

await useCompiledPrograms();
await import(pathToFileURL(programFile(join(root, "services/cli/src/main.ts"))).href);
