// npm run check [-- GATE…]: checks a change by everything that needs no server. Prints one line per gate.
import { availableParallelism } from "node:os";
import process from "node:process";
import { deadCode } from "../gates/dead-code.ts";
import { format } from "../gates/format.ts";
import { generated } from "../gates/generated.ts";
import { lint } from "../gates/lint.ts";
import { pythonFormat, pythonLint } from "../gates/python-lint.ts";
import { pythonTypes } from "../gates/python-types.ts";
import { tidy, unit } from "../gates/tests.ts";
import { types } from "../gates/types.ts";
import { type GateReport, passGates } from "../lib/gate.ts";
import { makePythonEnvironment } from "../lib/python-environment.ts";
import { makeRuff } from "../lib/python-tools.ts";
import { repositoryFiles } from "../lib/repository-files.ts";

// The longest gates come first, so that the short ones fill the other core.
const all = [
  unit,
  pythonTypes,
  types,
  lint,
  tidy,
  generated,
  format,
  deadCode,
  pythonLint,
  pythonFormat,
];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.some((gate) => gate.name === name));
const gates = asked.length === 0 ? all : all.filter((gate) => asked.includes(gate.name));

if (unknown.length > 0) {
  const names = all.map((gate) => `"${gate.name}"`).join(", ");
  process.stderr.write(`no gate is called ${unknown.join(", ")}; there are ${names}\n`);
  process.exitCode = 2;
} else {
  // Problems of preparing the environment are reported by the gate that needs it.
  if (gates.includes(pythonTypes)) await makePythonEnvironment(say);
  if (gates.includes(pythonLint) || gates.includes(pythonFormat)) await makeRuff(say);
  const start = performance.now();
  const width = Math.min(2, availableParallelism());
  const reports = await passGates(gates, repositoryFiles(), width, tell);
  const failed = reports.filter((report) => !report.ok);
  for (const { name, output } of failed) process.stdout.write(`\n── ${name}\n${output}`);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(
    `\n${reports.length - failed.length} gates passed, ${failed.length} failed in ${seconds} s\n`,
  );
  process.exitCode = failed.length === 0 && reports.length > 0 ? 0 : 1;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function tell({ name, ok, ms, seen }: GateReport): void {
  const seconds = (ms / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${ok ? "ok  " : "FAIL"} ${name.padEnd(13)} ${seconds} s  ${seen} files\n`);
}
