import type { Gate } from "../lib/gate.ts";
import {
  compareApiDocuments,
  compareEventsPage,
  compareGenerated,
  releasedImage,
} from "../lib/generated-code.ts";
import { runTool } from "../lib/run-tool.ts";

/**
 * Compares the committed code, the page of events and the documents of the API with freshly generated ones. proto/ must
 * be well formed and compatible with the released protocol.
 */
export const generated: Gate = {
  name: "generate",
  run: async () => {
    const [comparison, page, documents, lint, breaking] = await Promise.all([
      compareGenerated(),
      compareEventsPage(),
      compareApiDocuments(),
      runTool("buf", ["lint"]),
      runTool("buf", ["breaking", "proto", "--against", releasedImage]),
    ]);
    const problems = [...comparison.problems, ...page.problems, ...documents.problems];
    const stale = problems.length === 0 ? "" : `${problems.join("\n")}\nRun: npm run generate\n`;
    return {
      ok: stale === "" && lint.code === 0 && breaking.code === 0,
      seen: comparison.seen + page.seen + documents.seen,
      output: stale + lint.output + breaking.output,
    };
  },
};
