/** The reasons why a present agent gets no runs, as shown to people. */
import { protocolProblem } from "@trainyard/contracts/agent";
import type { Block } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Agent } from "./state.ts";

export function blockOf(agent: Agent, isCooling: boolean): Block | null {
  const { id, joined, trust, diskLowBytes, out, awaited } = agent;
  const problem = protocolProblem(joined);
  if (problem !== null) {
    return { kind: "protocol", detail: `nothing is placed on ${id}: ${problem}` };
  }
  if (awaited !== null) {
    return { kind: "silent", detail: `${id} does not report: ${awaited.reason}` };
  }
  if (out !== null) {
    const state = out.state === "disabled" ? "disabled" : "draining";
    const why = out.reason === "" ? "" : ` (${out.reason})`;
    return { kind: "disabled", detail: `${id} is ${state}${why}` };
  }
  if (diskLowBytes !== null) {
    const detail = `${id} has ${megabytes(diskLowBytes)} MB of disk left, and nothing is placed below ${megabytes(limits.diskFloorBytes)} MB`;
    return { kind: "low_disk", detail };
  }
  if (!isCooling) return null;
  const detail = `the last ${trust.failures.length} runs failed on ${id}, which gets no runs for a while (${trust.reason})`;
  return { kind: "distrusted", detail };
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024));
}
