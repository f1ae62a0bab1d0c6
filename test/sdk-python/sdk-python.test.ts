// Wraps each Python test of libs/sdk-python in a test of this file, so that `npm test` runs and counts them. Each
// Python file runs once, in a process beside the others, since most of the time is spent waiting for an unavailable
// platform; each test here waits for the line that reports its end.
import { type ChildProcess, execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runModule, runner, testsFolder } from "./python-module.ts";

const python = "python3";
// A test may have to wait for its whole file; this limit is far above the time on two busy cores.
const runMs = 600_000;

const ids = execFileSync(python, [runner, "list"], { encoding: "utf8" })
  .trim()
  .split("\n")
  .map((line) => (JSON.parse(line) as { id: string }).id);

const moduleOf = (id: string): string => id.split(".")[0] ?? id;
const modules = [...new Set(ids.map(moduleOf))];
const waiting = new Map(ids.map((id) => [id, Promise.withResolvers<string | null>()]));
const running: ChildProcess[] = [];

async function run(module: string): Promise<void> {
  let strays = "";
  const { child, over } = runModule(
    [python, "-W", "error"],
    testsFolder,
    module,
    ({ id, failure, skipped }) => {
      const found = waiting.get(id);
      // An error outside of any test, as in setUpClass, has an id that was not listed.
      if (found === undefined) strays += `${id}: ${failure}\n`;
      // The tests need nothing that a machine may lack, so a skipped test has failed.
      else found.resolve(skipped === null ? failure : `skipped: ${skipped}`);
    },
  );
  running.push(child);
  const { code, complaints } = await over;
  // Reported tests are settled already, so this rejects only the others.
  const left = `the Python run ended (${code}) without this test\n${strays}${complaints}`;
  for (const [id, { resolve }] of waiting) if (moduleOf(id) === module) resolve(left);
}

beforeAll(() => {
  for (const module of modules) void run(module);
});

afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

test("libs/sdk-python has Python tests", () => {
  expect(ids.length).toBeGreaterThan(50);
});

describe.each(modules)("%s", (module) => {
  test.each(ids.filter((id) => moduleOf(id) === module))("%s", { timeout: runMs }, async (id) => {
    const failure = await waiting.get(id)?.promise;
    expect(failure ?? "").toBe("");
  });
});
