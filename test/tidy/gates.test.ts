import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Gate, passGates } from "../../scripts/lib/gate.ts";
import { compareGenerated, generatedFolder } from "../../scripts/lib/generated-code.ts";
import { repositoryFiles } from "../../scripts/lib/repository-files.ts";
import { root } from "../../scripts/lib/root.ts";
import { longestFirst } from "../../scripts/lib/test-order.ts";
import { unitTests } from "../../scripts/lib/unit-tests.ts";

const gate = (name: string, result: Awaited<ReturnType<Gate["run"]>> | Error): Gate => ({
  name,
  run: async () => {
    if (result instanceof Error) throw result;
    return result;
  },
});

async function verdicts(gates: readonly Gate[]): Promise<Readonly<Record<string, boolean>>> {
  const reports = await passGates(gates, [], 2, () => {});
  return Object.fromEntries(reports.map(({ name, ok }) => [name, ok]));
}

describe("a gate", () => {
  it("passes only when it saw files, and reported them as correct", async () => {
    expect(
      await verdicts([
        gate("right", { ok: true, seen: 3, output: "" }),
        gate("wrong", { ok: false, seen: 3, output: "" }),
        gate("blind", { ok: true, seen: 0, output: "" }),
        gate("broken", new Error("no such tool")),
      ]),
    ).toEqual({ right: true, wrong: false, blind: false, broken: false });
  });
});

describe("generated code", () => {
  it("is found when it was edited, left over or forgotten", async () => {
    const copy = mkdtempSync(join(tmpdir(), "trainyard-generated-"));
    try {
      cpSync(join(root, generatedFolder), copy, { recursive: true });
      const events = "trainyard/event/v1";
      writeFileSync(join(copy, events, "token_pb.ts"), "export {};\n");
      writeFileSync(join(copy, events, "gone_pb.ts"), "export {};\n");
      rmSync(join(copy, events, "search_pb.ts"));
      const { problems } = await compareGenerated(copy);
      expect(problems).toEqual([
        `${events}/search_pb.ts is missing`,
        `${events}/gone_pb.ts is left over`,
        `${events}/token_pb.ts is not what proto/ generates`,
      ]);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});

describe("unit tests", () => {
  const files = repositoryFiles();
  const units = unitTests(files);

  it("are all tests without the suffix of integration tests, and without the suites of the platform", () => {
    expect(units).toContain("libs/kernel/src/rng.test.ts");
    expect(units).toContain("test/compat/events.test.ts");
    for (const file of [
      "libs/event-log/src/postgres/postgres-log.int.test.ts",
      "services/gateway/src/http/http.int.test.ts",
      "test/browser/lists.test.ts",
    ]) {
      expect(files).toContain(file);
      expect(units).not.toContain(file);
    }
  });
});

describe("the order of the tests", () => {
  it("names each existing file once, and no other", () => {
    const files = repositoryFiles();
    expect(longestFirst.filter((file) => !files.includes(file))).toEqual([]);
    expect(new Set(longestFirst).size).toBe(longestFirst.length);
  });
});
