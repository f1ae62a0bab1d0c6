import { AllocationReportState } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../cluster/state.ts";
import { judgeAllocation } from "./judge-allocation.ts";
import type { Rank } from "./ranks.ts";

const granted = { grant: {}, started: true, stop: null } as unknown as Allocation;

type Told = {
  readonly said?: EndReason;
  readonly message?: string;
  readonly follows?: boolean;
  readonly code?: number;
  readonly exit?: string;
  readonly killed?: boolean;
};

/** A node that has ended, with these values in its report. */
function node(nodeRank: number, told: Told): Rank {
  const { said, message = "", follows = false, code = 1, exit = "", killed = false } = told;
  const agent = `a${nodeRank}`;
  return {
    placement: { agent, nodeRank, slots: ["0"], address: "127.0.0.1" },
    state: {
      kind: "ended",
      report: {
        allocation: "1.1#1",
        requestId: "e",
        state: AllocationReportState.ENDED,
        nodeRank,
        slots: ["0"],
        pid: 7,
        launchFailed: false,
        killed,
        exit: { nodeRank, agent, code, signal: "", message: exit },
        ...(said === undefined ? {} : { endRecord: { reason: said, message, follows } }),
      },
    },
  };
}

test("the start of a run names the users of its processes that are not the agents'", () => {
  const up = (nodeRank: number, userId: number | undefined): Rank => {
    const placement = { agent: `a${nodeRank}`, nodeRank, slots: [], address: "" };
    return { placement, state: { kind: "up", pid: 7, userId } };
  };
  const ranks = [up(0, 1_012), up(1, undefined)];
  expect(judgeAllocation({ ...granted, started: false }, ranks)).toEqual([
    {
      kind: "start",
      starts: [
        { agent: "a0", nodeRank: 0, pid: 7, userId: 1_012 },
        { agent: "a1", nodeRank: 1, pid: 7 },
      ],
    },
  ]);
});

function lastWordOf(...told: readonly Told[]) {
  const commands = judgeAllocation(
    granted,
    told.map((one, nodeRank) => node(nodeRank, one)),
  );
  const end = commands.find((command) => command.kind === "end");
  return end?.kind === "end" ? end.endRecord : undefined;
}

const { ACKNOWLEDGED_STOP, ERROR, FINISHED, INVALID_HYPERPARAMETERS } = EndReason;

describe("the last word of a run on several nodes", () => {
  test("is the most severe one, whichever node reported it", () => {
    const unfit = { said: INVALID_HYPERPARAMETERS, message: "unfit" };
    const failed = { said: ERROR, message: "ValueError: boom" };
    const finished = { said: FINISHED, code: 0 };
    expect(lastWordOf(finished, failed)?.message).toBe("ValueError: boom");
    expect(lastWordOf(failed, unfit)?.reason).toBe(INVALID_HYPERPARAMETERS);
    expect(lastWordOf(finished, { said: ACKNOWLEDGED_STOP })?.reason).toBe(ACKNOWLEDGED_STOP);
    expect(lastWordOf({ code: 0 }, finished)?.reason).toBe(FINISHED);
    expect(lastWordOf({ code: 0 }, { code: 0 })).toBeNull();
  });

  test("is the first node's of two errors, unless that error only reports the loss of the other node", () => {
    const first = { said: ERROR, message: "first" };
    const second = { said: ERROR, message: "second" };
    expect(lastWordOf(first, second)?.message).toBe("first");
    expect(lastWordOf({ ...first, follows: true }, second)?.message).toBe("second");
    expect(lastWordOf(first, { ...second, follows: true })?.message).toBe("first");
  });

  test("names the exit of a node without an end record before its neighbour's error", () => {
    const complaint = { said: ERROR, message: "rank 0: rank 1 has ended", follows: true };
    const silent = { exit: "the process was ended by SIGKILL" };
    expect(lastWordOf(complaint, silent)?.message).toBe(
      "node 1 on a1: the process was ended by SIGKILL; then rank 0: rank 1 has ended",
    );
    // The scheduler killed this node because of the other, so its end is not the cause.
    const killed = { ...silent, killed: true };
    expect(lastWordOf(complaint, killed)?.message).toBe("rank 0: rank 1 has ended");
  });
});

test("the end of a run names the last validation of its chief's node, unless the chief's agent is lost", () => {
  const naming = (rank: Rank, lastValidation: string): Rank =>
    rank.state.kind === "ended"
      ? { ...rank, state: { ...rank.state, report: { ...rank.state.report, lastValidation } } }
      : rank;
  const endOf = (ranks: readonly Rank[]) =>
    judgeAllocation(granted, ranks).find(({ kind }) => kind === "end");
  const other = naming(node(1, {}), "1-9");
  expect(endOf([naming(node(0, {}), "0-4"), other])).toMatchObject({ lastValidation: "0-4" });
  const lost: Rank = { placement: node(0, {}).placement, state: { kind: "lost" } };
  expect(endOf([lost, other])).not.toHaveProperty("lastValidation");
});

test("the end of a run names all undelivered checkpoints of its nodes, except of those whose agent is lost", () => {
  const sealed = (checkpoint: string) => ({ checkpoints: [{ checkpoint, step: 1, bytes: 1 }] });
  const leaving = (rank: Rank, checkpoint: string): Rank =>
    rank.state.kind === "ended"
      ? {
          ...rank,
          state: { ...rank.state, report: { ...rank.state.report, sealed: sealed(checkpoint) } },
        }
      : rank;
  const ranks = [leaving(node(0, {}), "a"), leaving(node(1, {}), "b"), node(2, {})];
  const lost: Rank = { placement: node(3, {}).placement, state: { kind: "lost" } };
  const end = judgeAllocation(granted, [...ranks, lost]).find(({ kind }) => kind === "end");
  expect(end).toMatchObject({ sealed: [{ checkpoint: "a" }, { checkpoint: "b" }] });
});
