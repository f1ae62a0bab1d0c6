import { join } from "node:path";
import type { Gate } from "../lib/gate.ts";
import { root } from "../lib/root.ts";
import { runTool } from "../lib/run-tool.ts";

/**
 * Knip, without its cache, which keeps what files said before they changed: no file, export or dependency that nothing
 * uses, no import that nothing declares.
 */
export const deadCode: Gate = {
  name: "dead code",
  run: async () => {
    const { code, output } = await runTool("knip", [
      "--no-progress",
      "--reporter=symbols",
      `--reporter=${join(root, "scripts", "lib", "knip-count.ts")}`,
    ]);
    const seen = Number(/^files seen: (\d+)$/m.exec(output)?.[1] ?? 0);
    return { ok: code === 0, seen, output };
  },
};
