import { AllocationReportState } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import { launchOf } from "../testing/examples.ts";
import { refusalOf, reportOf } from "./exit.ts";
import { type ExitRecord, exitMessageCharsMax, type KillRecord } from "./records.ts";

type Before = {
  /** The reason of a signal that was sent before the end. */
  readonly kill?: KillRecord["why"];
  /** True if the signal was sent after the end. */
  readonly late?: boolean;
  /** True if the run was asked to stop by itself. */
  readonly asked?: boolean;
  /** The reason in the run's end record. */
  readonly said?: EndReason;
};

function told(exit: Partial<ExitRecord>, { kill, late = false, asked = false, said }: Before = {}) {
  const { killed, launchFailed, ...report } = reportOf("rack", {
    launch: launchOf("true"),
    state: AllocationReportState.ENDED,
    pid: 5,
    stop: asked ? { why: "shutdown", atMs: 1 } : null,
    kill: kill === undefined ? null : { why: kill, atMs: late ? 3 : 1 },
    exit: { kind: "exited", code: null, signal: null, message: "", atMs: 2, ...exit },
    notice: "",
    lastWord: { endRecord: said === undefined ? null : { reason: said, message: "" }, problem: "" },
  });
  return { killed, launchFailed, code: report.exit?.code, signal: report.exit?.signal };
}

test("an ended run names its last validation, except when its host or its supervisor was lost", () => {
  const named = (kind: ExitRecord["kind"], lastValidation: string | null) =>
    reportOf("rack", {
      launch: launchOf("true"),
      state: AllocationReportState.ENDED,
      pid: 5,
      stop: null,
      kill: null,
      exit: { kind, code: null, signal: null, message: "", atMs: 2 },
      notice: "",
      lastWord: { endRecord: null, problem: "" },
      lastValidation,
    }).lastValidation;
  expect(named("exited", "0-3")).toBe("0-3");
  expect(named("exited", "")).toBe("");
  expect(named("exited", null)).toBeUndefined();
  expect(named("lost", "0-3")).toBeUndefined();
});

test("a run names the user of its processes, unless they have the agent's user", () => {
  const userOf = (owner: { readonly uid: number } | null) =>
    reportOf("rack", {
      ...{ launch: launchOf("true"), state: AllocationReportState.RUNNING, pid: 5, owner },
      ...{ stop: null, kill: null, exit: null, notice: "" },
      lastWord: { endRecord: null, problem: "" },
    }).userId;
  expect(userOf({ uid: 1_012 })).toBe(1_012);
  expect(userOf(null)).toBeUndefined();
});

const { ACKNOWLEDGED_STOP, ERROR, FINISHED, INVALID_HYPERPARAMETERS } = EndReason;

describe("a run is reported as", () => {
  test.each([
    ["exited by itself", { code: 0 }, {}, { killed: false, code: 0, signal: "" }],
    ["failed", { code: 1 }, {}, { killed: false, code: 1, signal: "" }],
    ["ended by a signal", { signal: "SIGSEGV" }, {}, { killed: false, signal: "SIGSEGV" }],
    ["killed", { signal: "SIGKILL" }, { kill: "wanted" }, { killed: true, signal: "SIGKILL" }],
    [
      "exited before the kill reached it",
      { code: 0 },
      { kill: "wanted" },
      { killed: false, code: 0 },
    ],
    [
      "killed after its supervisor died",
      { kind: "lost" },
      { kill: "wanted" },
      { killed: true, signal: "" },
    ],
    [
      "killed before its start",
      { kind: "never_started" },
      { kill: "wanted" },
      { killed: true, signal: "" },
    ],
    ["lost", { kind: "lost" }, {}, { killed: false, launchFailed: false, signal: "" }],
    ["not launched", { kind: "not_launched" }, {}, { launchFailed: true, signal: "" }],
    ["shut down", { signal: "SIGTERM" }, { kill: "shutdown" }, { killed: false, signal: "" }],
    [
      "shut down when its handler exits with a code",
      { code: 130 },
      { kill: "shutdown" },
      { signal: "" },
    ],
    ["finished just before a shutdown", { code: 0 }, { kill: "shutdown", late: true }, { code: 0 }],
    ["shut down when its handler exits with 0", { code: 0 }, { kill: "shutdown" }, { signal: "" }],
    [
      "shut down when it finishes in its handler",
      { code: 0 },
      { kill: "shutdown", said: FINISHED },
      { signal: "" },
    ],
    [
      "stopped by itself at a shutdown",
      { code: 0 },
      { asked: true, said: ACKNOWLEDGED_STOP },
      { code: 0 },
    ],
    [
      "killed at a shutdown while it was stopping by itself",
      { signal: "SIGKILL" },
      { asked: true, kill: "shutdown", said: ACKNOWLEDGED_STOP },
      { signal: "SIGKILL" },
    ],
    [
      "finished even after the request to stop",
      { code: 0 },
      { asked: true, said: FINISHED },
      { code: 0 },
    ],
    [
      "failed when it fails after the request to stop",
      { code: 1 },
      { asked: true, said: ERROR },
      { signal: "" },
    ],
    [
      "ended for invalid hyperparameters, even at a shutdown",
      { code: 1 },
      { asked: true, said: INVALID_HYPERPARAMETERS },
      { code: 1 },
    ],
    [
      "killed even when the host was shut down too",
      { signal: "SIGKILL" },
      { asked: true, kill: "wanted" },
      { killed: true, signal: "SIGKILL" },
    ],
  ] as const)("%s", (_name, exit, before, expected) => {
    const report = told(exit, before);
    expect(report).toMatchObject(expected);
    if (!("code" in expected)) expect(report.code).toBeUndefined();
  });

  test("running and without an exit before it has ended", () => {
    const report = reportOf("rack", {
      launch: launchOf("true"),
      state: AllocationReportState.RUNNING,
      pid: 5,
      stop: null,
      kill: null,
      exit: { kind: "exited", code: 0, signal: null, message: "", atMs: 2 },
      notice: "",
      lastWord: { endRecord: null, problem: "" },
    });
    expect(report.exit).toBeUndefined();
  });
});

test("the message of an end is shortened, also for a launch without a folder", () => {
  const message = "x".repeat(1024 * 1024);
  const exit = { kind: "not_launched", code: null, signal: null, message, atMs: 2 } as const;
  const view = { launch: launchOf("true"), state: AllocationReportState.ENDED, pid: 0 };
  const nothing = {
    stop: null,
    kill: null,
    notice: "",
    lastWord: { endRecord: null, problem: "" },
  };
  const reports = [
    reportOf("rack", { ...view, ...nothing, exit }),
    refusalOf("rack", view.launch, message),
  ];
  for (const report of reports) {
    expect(report.exit?.message).toHaveLength(exitMessageCharsMax);
  }
});
