import { join } from "node:path";
import type { Gate } from "../lib/gate.ts";
import { root } from "../lib/root.ts";
import { runTool } from "../lib/run-tool.ts";

/**
 * Knip finds files, exports and dependencies that nothing uses, and imports that nothing declares. Its cache is off: it
 * would return old results for changed files.
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
