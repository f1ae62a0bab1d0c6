import { codecOf, type Plain } from "@trainyard/contracts";
import {
  AllocationReportState,
  type Report,
  ReportSchema,
  spokenProtocol,
} from "@trainyard/contracts/agent";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { reportMessages } from "./report-messages.ts";

const decode = (message: Uint8Array): Plain<Report> =>
  codecOf<Plain<Report>>(ReportSchema).decode(new TextDecoder().decode(message));

function reportOf(runs: number, message: string): Plain<Report> {
  const allocations = Array.from({ length: runs }, (_, n) => ({
    allocation: `1.${n + 1}#1`,
    requestId: "r",
    state: AllocationReportState.ENDED,
    nodeRank: 0,
    slots: ["0"],
    pid: 7,
    exit: { nodeRank: 0, agent: "a1", code: 1, signal: "", message },
    launchFailed: false,
    killed: false,
  }));
  const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 1 }];
  const offer = { pool: "default", slots, labels: {}, agentVersion: "1", address: "h" };
  const echo = { sequence: 9, epoch: 2, version: 3, probe: 4 };
  const start = { folder: "f", place: "p", startedMs: 1, processGroups: "cgroup" };
  const host = { ...start, ...spokenProtocol, highestEpoch: 2, diskFreeBytes: 1e9, notices: [] };
  return { agent: "a1", incarnation: "one", ...echo, ...offer, ...host, allocations };
}

test("a report that fits is one message without numbers", () => {
  const report = reportOf(3, "short");
  expect(reportMessages(report, limits.reportPartBytesMax).map(decode)).toEqual([report]);
});

test("a report that does not fit is sent in parts that contain every run once and fit each", () => {
  // Each character is escaped to six bytes.
  const report = reportOf(200, "\u0001".repeat(limits.endMessageCharsMax));
  const messages = reportMessages(report, limits.reportPartBytesMax);
  const parts = messages.map(decode);
  expect(Math.max(...messages.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(
    limits.reportPartBytesMax,
  );
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.map(({ part, parts: count, sequence }) => [part, count, sequence])).toEqual(
    parts.map((_, n) => [n + 1, parts.length, 9]),
  );
  expect(parts.flatMap(({ allocations }) => allocations)).toEqual(report.allocations);
  const { part: _part, parts: _parts, ...whole } = { ...parts[0], allocations: report.allocations };
  expect(whole).toEqual(report);
});
