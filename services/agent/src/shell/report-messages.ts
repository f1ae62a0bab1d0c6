/** Encodes a report as messages: one if it fits, else parts (agent.proto), so that no run is left out. */
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  AllocationReportSchema,
  type Report,
  ReportSchema,
} from "@trainyard/contracts/agent";

const reports = codecOf<Plain<Report>>(ReportSchema);
const allocations = codecOf<Plain<AllocationReport>>(AllocationReportSchema);
const bytes = new TextEncoder();

export function reportMessages(
  report: Plain<Report>,
  partBytesMax: number,
): readonly Uint8Array<ArrayBuffer>[] {
  const whole = bytes.encode(reports.encode(report));
  if (whole.byteLength <= partBytesMax) return [whole];
  const none = bytes.encode(reports.encode({ ...report, allocations: [] }));
  const groups = grouped(report.allocations, partBytesMax - none.byteLength);
  return groups.map((group, index) => {
    const numbers = { part: index + 1, parts: groups.length };
    return bytes.encode(reports.encode({ ...report, ...numbers, allocations: group }));
  });
}

/** Groups runs in their order, as many as fit into a part; a run that is too large gets a part of its own. */
function grouped(
  all: readonly Plain<AllocationReport>[],
  bytesMax: number,
): readonly (readonly Plain<AllocationReport>[])[] {
  const groups: Plain<AllocationReport>[][] = [[]];
  let used = 0;
  for (const one of all) {
    // The size with the comma before it.
    const size = bytes.encode(allocations.encode(one)).byteLength + 1;
    const last = groups[groups.length - 1] as Plain<AllocationReport>[];
    if (last.length === 0 || used + size <= bytesMax) {
      last.push(one);
      used += size;
    } else {
      groups.push([one]);
      used = size;
    }
  }
  return groups;
}
