import type { Gate } from "../lib/gate.ts";
import { runTool } from "../lib/run-tool.ts";

/** Biome's formatter; `node_modules/.bin/biome format --write .` fixes the files. */
export const format: Gate = {
  name: "format",
  run: async () => {
    const { code, output } = await runTool("biome", [
      "format",
      "--reporter=summary",
      "--max-diagnostics=none",
      ".",
    ]);
    const seen = Number(/Checked (\d+) files?/.exec(output)?.[1] ?? 0);
    return { ok: code === 0, seen, output };
  },
};
