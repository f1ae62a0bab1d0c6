// Makes each Python test of libs/sdk-python/tests/torch a test here. Each file runs in a process of its own, two at a time;
// they run before the tests here are named, so that PyTorch is not imported another time only to list them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { needTorch, notRun } from "../world/torch.ts";
import { type Ended, runModule, testsFolder } from "./python-module.ts";

const atATime = 2;
const folder = join(testsFolder, "torch");
const { python } = pythonEnvironment();

const modules = readdirSync(folder)
  .flatMap((file) => /^(test_.*)\.py$/.exec(file)?.[1] ?? [])
  .toSorted();

type Run = {
  readonly module: string;
  readonly seconds: number;
  readonly ended: readonly Ended[];
  readonly problem: string;
};

async function run(program: string, module: string): Promise<Run> {
  const startedMs = performance.now();
  const ended: Ended[] = [];
  const { over } = runModule([program], folder, module, (one) => ended.push(one));
  const { code, complaints } = await over;
  const seconds = (performance.now() - startedMs) / 1_000;
  process.stderr.write(`${seconds.toFixed(1).padStart(6)} s  tests/torch/${module}.py\n`);
  const ran = code === 0 && ended.length > 0;
  return {
    module,
    seconds,
    ended,
    problem: ran ? "" : `the run of its tests ended with ${code}\n${complaints}`,
  };
}

async function runAll(program: string): Promise<readonly Run[]> {
  const waiting = [...modules];
  const runs: Run[] = [];
  const lane = async (): Promise<void> => {
    for (let module = waiting.shift(); module !== undefined; module = waiting.shift()) {
      runs.push(await run(program, module));
    }
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return runs.toSorted((a, b) => (a.module < b.module ? -1 : 1));
}

const runs = python === null ? [] : await runAll(python);

test.for(python === null ? modules : [])("%s", (_, { skip }) => {
  expect(needTorch(skip)).toBeNull();
});

describe.each(runs)("$module", ({ ended, problem }) => {
  test("its process ends well, with tests", () => {
    expect(problem).toBe("");
  });
  test.for(ended)("$id", ({ failure, skipped }, { skip }) => {
    if (failure === null && skipped !== null) notRun(skip, skipped);
    expect(failure ?? "").toBe("");
  });
});
