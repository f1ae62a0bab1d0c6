import type { Gate } from "../lib/gate.ts";
import { runTool } from "../lib/run-tool.ts";

type Report = {
  readonly number_of_files: number;
  readonly diagnostics: readonly {
    readonly code: string;
    readonly message: string;
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
};

/** oxlint with types, configured by .oxlintrc.json; a warning fails the gate like an error. */
export const lint: Gate = {
  name: "lint",
  run: async () => {
    const args = ["--deny-warnings", "--format=json", "."];
    const { code, output, stdout } = await runTool("oxlint", args);
    const report = reportIn(stdout);
    if (report === null) return { ok: false, seen: 0, output };
    const lines = report.diagnostics.map(
      ({ filename, labels, code: rule, message }) =>
        `${filename}:${labels[0]?.span.line ?? 0} ${rule} ${message}\n`,
    );
    return {
      ok: code === 0 && lines.length === 0,
      seen: report.number_of_files,
      output: lines.length === 0 ? output : lines.join(""),
    };
  },
};

/** Parses the linter's JSON report; null when the linter crashed and printed plain text. */
function reportIn(stdout: string): Report | null {
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return null;
  }
}
