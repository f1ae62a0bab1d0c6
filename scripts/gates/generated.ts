import type { Gate } from "../lib/gate.ts";
import { compareEventsPage, compareGenerated, releasedImage } from "../lib/generated-code.ts";
import { runTool } from "../lib/run-tool.ts";

/**
 * Compares the committed code and the page of events with freshly generated ones. proto/ must be well formed and
 * compatible with the released protocol.
 */
export const generated: Gate = {
  name: "generate",
  run: async () => {
    const [comparison, page, lint, breaking] = await Promise.all([
      compareGenerated(),
      compareEventsPage(),
      runTool("buf", ["lint"]),
      runTool("buf", ["breaking", "proto", "--against", releasedImage]),
    ]);
    const problems = [...comparison.problems, ...page.problems];
    const stale = problems.length === 0 ? "" : `${problems.join("\n")}\nRun: npm run generate\n`;
    return {
      ok: stale === "" && lint.code === 0 && breaking.code === 0,
      seen: comparison.seen + page.seen,
      output: stale + lint.output + breaking.output,
    };
  },
};
