// Makes each Python test of this package a test here, so that `npm test` runs and counts them. Each Python file runs
// once, in a process of its own beside the others, since most of the time is spent waiting for a platform that is away;
// each test here waits for the line that tells of its end.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

type Ended = { readonly id: string; readonly failure: string | null };

const runner = join(import.meta.dirname, "tests", "run_tests.py");
const python = "python3";
// A test here may wait for all of its file; far more than that takes on two busy cores.
const runMs = 300_000;

const ids = execFileSync(python, [runner, "list"], { encoding: "utf8" })
  .trim()
  .split("\n")
  .map((line) => (JSON.parse(line) as { id: string }).id);

const moduleOf = (id: string): string => id.split(".")[0] ?? id;
const modules = [...new Set(ids.map(moduleOf))];
const waiting = new Map(ids.map((id) => [id, Promise.withResolvers<string | null>()]));
const running: ChildProcess[] = [];

function runModule(module: string): ChildProcess {
  const child = spawn(python, ["-W", "error", runner, "run", module], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString("utf8");
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, failure } = JSON.parse(line) as Ended;
    const found = waiting.get(id);
    // An error outside of any test, as in setUpClass, has an id that was not listed.
    if (found === undefined) complaints += `${id}: ${failure}\n`;
    else found.resolve(failure);
  });
  child.on("close", (code, signal) => {
    // Those that were told of are settled already, so this reaches only the others.
    const left = `the Python run ended (${code ?? signal}) without this test\n${complaints}`;
    for (const [id, { resolve }] of waiting) if (moduleOf(id) === module) resolve(left);
  });
  return child;
}

beforeAll(() => {
  running.push(...modules.map(runModule));
});

afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

test("there are Python tests", () => {
  expect(ids.length).toBeGreaterThan(50);
});

describe.each(modules)("%s", (module) => {
  test.each(ids.filter((id) => moduleOf(id) === module))("%s", { timeout: runMs }, async (id) => {
    const failure = await waiting.get(id)?.promise;
    expect(failure ?? "").toBe("");
  });
});
