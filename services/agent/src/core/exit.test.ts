import { AllocationReportState } from "@trainyard/contracts/agent";
import { describe, expect, test } from "vitest";
import { launchOf } from "../testing/examples.ts";
import { reportOf } from "./exit.ts";
import type { ExitRecord, KillRecord } from "./records.ts";

function told(exit: Partial<ExitRecord>, why: KillRecord["why"] | null = null) {
  const { killed, launchFailed, ...report } = reportOf("rack", {
    launch: launchOf("true"),
    state: AllocationReportState.ENDED,
    pid: 5,
    kill: why === null ? null : { why, atMs: 1 },
    exit: { kind: "exited", code: null, signal: null, message: "", atMs: 2, ...exit },
    endRecord: null,
  });
  return { killed, launchFailed, code: report.exit?.code, signal: report.exit?.signal };
}

describe("an ended run is told as", () => {
  test.each([
    ["exited by itself", { code: 0 }, null, { killed: false, code: 0, signal: "" }],
    ["failed", { code: 1 }, null, { killed: false, code: 1, signal: "" }],
    ["ended by a signal", { signal: "SIGSEGV" }, null, { killed: false, signal: "SIGSEGV" }],
    ["killed", { signal: "SIGKILL" }, "wanted", { killed: true, signal: "SIGKILL" }],
    ["exited before the kill reached it", { code: 0 }, "wanted", { killed: false, code: 0 }],
    ["killed with its supervisor dead", { kind: "lost" }, "wanted", { killed: true, signal: "" }],
    ["killed before its start", { kind: "never_started" }, "wanted", { killed: true, signal: "" }],
    ["lost", { kind: "lost" }, null, { killed: false, launchFailed: false, signal: "" }],
    ["not launched", { kind: "not_launched" }, null, { launchFailed: true, signal: "" }],
    ["shut down", { signal: "SIGTERM" }, "shutdown", { killed: false, signal: "" }],
    ["shut down, with a code of its handler", { code: 130 }, "shutdown", { signal: "" }],
    ["finished during a shutdown", { code: 0 }, "shutdown", { killed: false, code: 0 }],
  ] as const)("%s", (_name, exit, why, expected) => {
    const report = told(exit, why);
    expect(report).toMatchObject(expected);
    if (!("code" in expected)) expect(report.code).toBeUndefined();
  });

  test("running, without an exit, before it has ended", () => {
    const report = reportOf("rack", {
      launch: launchOf("true"),
      state: AllocationReportState.RUNNING,
      pid: 5,
      kill: null,
      exit: { kind: "exited", code: 0, signal: null, message: "", atMs: 2 },
      endRecord: null,
    });
    expect(report.exit).toBeUndefined();
  });
});
