// Wraps each Python test of libs/sdk-python/tests/torch in a test of this file. Each Python file runs in a process of
// its own, two at a time, forked from one that has imported PyTorch and the SDK: the import takes longer than most
// files. The files run before the tests are named, so that PyTorch need not be imported just to list them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { describe, expect, test } from "vitest";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { needTorch } from "../world/torch.ts";
import { type ModuleEnd, runForks, testsFolder } from "./python-module.ts";

const atATime = 2;
/** Most files need these; torch imports the second at the first optimizer, and the third at its first step. */
const packages = ["torch", "torch._dynamo", "torch.profiler", "trainyard.pytorch", "fake_platform"];
const folder = join(testsFolder, "torch");
const { python } = pythonEnvironment();

const modules = readdirSync(folder)
  .flatMap((file) => /^(test_.*)\.py$/.exec(file)?.[1] ?? [])
  .toSorted();

async function runAll(program: string): Promise<readonly ModuleEnd[]> {
  const ends: ModuleEnd[] = [];
  const what = { modules, packages, atATime };
  const { code, complaints } = await runForks([program], folder, what, (end) => ends.push(end))
    .over;
  const problem = `the run of the tests ended with ${code}\n${complaints}`;
  const ofModule = new Map(ends.map((end) => [end.module, end]));
  return modules.map((module) => {
    const end = ofModule.get(module);
    if (end === undefined) return { module, seconds: 0, code: 1, complaints: problem, ended: [] };
    process.stderr.write(`${end.seconds.toFixed(1).padStart(6)} s  tests/torch/${module}.py\n`);
    return end;
  });
}

const runs = python === null ? [] : await runAll(python);

test.for(python === null ? modules : [])("%s", (_, { skip }) => {
  expect(needTorch(skip)).toBeNull();
});

describe.each(runs)("$module", ({ ended, code, complaints }) => {
  test("has tests, and its process exits with 0", () => {
    expect(code, complaints).toBe(0);
    expect(ended.length, complaints).toBeGreaterThan(0);
  });
  test.for(ended)("$id", ({ failure, skipped }, { skip }) => {
    if (failure === null && skipped !== null) notRun(skip, skipped);
    expect(failure ?? "").toBe("");
  });
});
