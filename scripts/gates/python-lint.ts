import type { Gate, GateResult } from "../lib/gate.ts";
import { ruff, ruffConfig } from "../lib/python-tools.ts";
import { runTool } from "../lib/run-tool.ts";

/** Ruff's linter, configured by ruff.toml; `.cache/ruff/bin/ruff check --fix PATH` fixes some of the problems. */
export const pythonLint: Gate = {
  name: "python lint",
  run: (files) => runRuff(["check", "--output-format=concise"], files),
};

/** Ruff's formatter; `.cache/ruff/bin/ruff format PATH` fixes the files. */
export const pythonFormat: Gate = {
  name: "python format",
  run: (files) => runRuff(["format", "--check"], files),
};

async function runRuff(command: readonly string[], files: readonly string[]): Promise<GateResult> {
  const tool = ruff();
  if (tool.program === null) return { ok: false, seen: 0, output: `${tool.why}\n` };
  const sources = files.filter((file) => file.endsWith(".py"));
  // Ruff without file names would check every file.
  if (sources.length === 0) return { ok: true, seen: 0, output: "" };
  const { code, output } = await runTool(tool.program, [
    ...command,
    "--no-cache",
    `--config=${ruffConfig}`,
    ...sources,
  ]);
  return { ok: code === 0, seen: sources.length, output };
}
