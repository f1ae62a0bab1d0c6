// Wraps each Python test of libs/sdk-python in a test of this file, so that `npm test` runs and counts them. Each
// Python file runs once, in a process beside others, since most of the time is spent waiting for an unavailable
// platform; the processes are forked from one that has imported the SDK. Each test here waits for the end of its file.
import { type ChildProcess, execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModuleEnd, runForks, runner, testsFolder } from "./python-module.ts";

const python = "python3";
const atATime = 12;
/** Most files import these, which takes longer than most tests. */
const packages = ["trainyard", "unittest.mock", "fake_platform", "fake_store"];
// A test may have to wait for its whole file; this limit is far above the time on two busy cores.
const runMs = 600_000;

const ids = execFileSync(python, [runner, "list"], { encoding: "utf8" })
  .trim()
  .split("\n")
  .map((line) => (JSON.parse(line) as { id: string }).id);

const moduleOf = (id: string): string => id.split(".")[0] ?? id;
const modules = [...new Set(ids.map(moduleOf))];
const waiting = new Map(ids.map((id) => [id, Promise.withResolvers<string | null>()]));
let running: ChildProcess | undefined;

function settle({ module, code, complaints, ended }: ModuleEnd): void {
  let strays = "";
  for (const { id, failure, skipped } of ended) {
    const found = waiting.get(id);
    // An error outside of any test, as in setUpClass, has an id that was not listed.
    if (found === undefined) strays += `${id}: ${failure}\n`;
    // The tests need nothing that a machine may lack, so a skipped test has failed.
    else found.resolve(skipped === null ? failure : `skipped: ${skipped}`);
  }
  // Reported tests are settled already, so this rejects only the others.
  const left = `the Python run ended (${code}) without this test\n${strays}${complaints}`;
  for (const [id, { resolve }] of waiting) if (moduleOf(id) === module) resolve(left);
}

beforeAll(() => {
  const what = { modules, packages, atATime };
  const { child, over } = runForks([python, "-W", "error"], testsFolder, what, settle);
  running = child;
  void over.then(({ code, complaints }) => {
    const left = `the run of the tests ended with ${code} without this file\n${complaints}`;
    for (const { resolve } of waiting.values()) resolve(left);
  });
});

afterAll(() => {
  running?.kill("SIGKILL");
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
