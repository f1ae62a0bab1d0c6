import type { Gate } from "../lib/gate.ts";
import { pythonEnvironment } from "../lib/python-environment.ts";
import { root } from "../lib/root.ts";
import { runTool } from "../lib/run-tool.ts";

type Report = {
  readonly generalDiagnostics: readonly {
    readonly file: string;
    readonly severity: string;
    readonly message: string;
    readonly rule?: string;
    readonly range?: { readonly start: { readonly line: number } };
  }[];
  readonly summary: { readonly filesAnalyzed: number };
};

/**
 * Pyright, configured by pyrightconfig.json. It reads the pinned packages of the tests' environment, so its result does
 * not depend on the packages of the machine. A warning fails the gate like an error.
 */
export const pythonTypes: Gate = {
  name: "python types",
  run: async (files) => {
    const environment = pythonEnvironment();
    if (environment.python === null) return { ok: false, seen: 0, output: `${environment.why}\n` };
    const sources = files.filter((file) => file.endsWith(".py"));
    if (sources.length === 0) return { ok: true, seen: 0, output: "" };
    const args = ["--outputjson", "--pythonpath", environment.python, ...sources];
    const { code, output, stdout } = await runTool("pyright", args);
    const report = reportIn(stdout);
    if (report === null) return { ok: false, seen: 0, output };
    const lines = report.generalDiagnostics.map(
      ({ file, range, rule, message }) =>
        `${file.replace(`${root}/`, "")}:${(range?.start.line ?? 0) + 1} ${rule ?? ""} ${message}\n`,
    );
    const seen = report.summary.filesAnalyzed;
    return {
      ok: code === 0 && lines.length === 0 && seen === sources.length,
      seen,
      output: lines.join(""),
    };
  },
};

/** Parses pyright's JSON report; null when pyright crashed and printed plain text. */
function reportIn(stdout: string): Report | null {
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return null;
  }
}
