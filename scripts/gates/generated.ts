import type { Gate } from "../lib/gate.ts";
import { compareGenerated, releasedImage } from "../lib/generated-code.ts";
import { runTool } from "../lib/run-tool.ts";

/** The committed code is what proto/ generates; proto/ is well formed, and breaks nothing that was released. */
export const generated: Gate = {
  name: "generate",
  run: async () => {
    const [comparison, lint, breaking] = await Promise.all([
      compareGenerated(),
      runTool("buf", ["lint"]),
      runTool("buf", ["breaking", "proto", "--against", releasedImage]),
    ]);
    const stale =
      comparison.problems.length === 0
        ? ""
        : `${comparison.problems.join("\n")}\nRun: npm run generate\n`;
    return {
      ok: stale === "" && lint.code === 0 && breaking.code === 0,
      seen: comparison.seen,
      output: stale + lint.output + breaking.output,
    };
  },
};
