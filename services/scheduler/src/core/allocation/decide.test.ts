import type { EventData, EventOf } from "@trainyard/contracts";
import {
  AllocationEndCause,
  EndReason,
  StopMode,
  StopWhy,
  WaitCode,
} from "@trainyard/contracts/events";
import { encodeEvent } from "@trainyard/contracts";
import { assert, isRejection, limits } from "@trainyard/kernel";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits as schedulerLimits } from "../../limits.ts";
import { onRunRequested, onRunStopRequested } from "../reactions.ts";
import { allocationDecider } from "./decide.ts";
import type { AllocationCommand, AllocationEvent } from "./state.ts";

const queued: EventOf<"AllocationQueued"> = {
  type: "AllocationQueued",
  data: {
    task: "1.1",
    run: 1,
    job: "1",
    resources: { pool: "default", slots: 1, priority: 42, weight: 0, singleAgent: false },
    preemptible: true,
    delayMs: 0,
    workspace: "",
    owner: "",
  },
};
const placements = [{ agent: "a", slots: ["0"], nodeRank: 0, address: "127.0.0.1" }];
const where = { placements, masterAddress: "127.0.0.1", masterPort: 20_001, tokenKey: "k" };
const granted: AllocationEvent = { type: "AllocationGranted", data: { ...where, folded: 7 } };
const starts = [{ agent: "a", nodeRank: 0, pid: 7 }];
const started: AllocationEvent = { type: "AllocationStarted", data: { starts } };
const graceful = {
  kind: "stop",
  mode: StopMode.GRACEFUL,
  why: StopWhy.PAUSE,
  graceMs: 500,
} as const;
const kill = { kind: "stop", mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 } as const;
const end: AllocationCommand & { kind: "end" } = {
  kind: "end",
  cause: AllocationEndCause.EXITED,
  exits: [],
  endRecord: null,
  message: "",
};
const ended: AllocationEvent = {
  type: "AllocationEnded",
  data: { cause: AllocationEndCause.EXITED, exits: [], message: "" },
};

function stopRequested({
  mode,
  why,
  graceMs,
}: EventData<"AllocationStopRequested">): AllocationEvent {
  return { type: "AllocationStopRequested", data: { mode, why, graceMs } };
}

describe("an allocation", () => {
  test("is queued once", () => {
    const queue: AllocationCommand = { kind: "queue", queued: queued.data };
    given(allocationDecider).when(queue).then(queued);
    given(allocationDecider, queued).when(queue).thenNothing();
  });

  test("reports why it waits whenever the reason changes", () => {
    const code = WaitCode.NO_AGENTS;
    const explain = { kind: "explain", code, detail: "none", limit: null } as const;
    const explained: AllocationEvent = {
      type: "WaitExplained",
      data: { code: WaitCode.NO_AGENTS, detail: "none" },
    };
    given(allocationDecider, queued).when(explain).then(explained);
    given(allocationDecider, queued, explained).when(explain).thenNothing();
    given(allocationDecider, queued, explained)
      .when({ ...explain, limit: "quota of w: 2" })
      .then({
        type: "WaitExplained",
        data: { code, detail: "none", limit: "quota of w: 2" },
      });
    given(allocationDecider, queued, granted).when(explain).thenNothing();
  });

  test("is granted a place only while it waits", () => {
    given(allocationDecider, queued)
      .when({ kind: "grant", ...where, folded: 7, borrowed: 0 })
      .then(granted);
    given(allocationDecider, queued, granted)
      .when({ kind: "grant", ...where, folded: 7, borrowed: 0 })
      .thenRejected("not_queued");
    given(allocationDecider, queued, ended)
      .when({ kind: "grant", ...where, folded: 7, borrowed: 0 })
      .thenRejected("not_queued");
  });

  test("records how many slots are on loan, and for which run it makes room", () => {
    given(allocationDecider, queued)
      .when({ kind: "grant", ...where, folded: 7, borrowed: 1 })
      .then({ type: "AllocationGranted", data: { ...where, folded: 7, borrowed: 1 } });
    const data = { mode: StopMode.GRACEFUL, why: StopWhy.PREEMPTED, graceMs: 5, by: "2.1#1" };
    given(allocationDecider, queued, granted)
      .when({ kind: "stop", ...data })
      .then({ type: "AllocationStopRequested", data });
  });

  test("starts once", () => {
    given(allocationDecider, queued, granted).when({ kind: "start", starts }).then(started);
    given(allocationDecider, queued, granted, started)
      .when({ kind: "start", starts })
      .thenNothing();
  });

  test("is withdrawn by any kind of stop while it waits", () => {
    for (const stop of [graceful, kill]) {
      given(allocationDecider, queued)
        .when(stop)
        .then({
          type: "AllocationEnded",
          data: {
            cause: AllocationEndCause.WITHDRAWN,
            exits: [],
            message: "the run was stopped before it had a place",
          },
        });
    }
  });

  test("is stopped, and a further stop can only be more severe", () => {
    given(allocationDecider, queued, granted).when(graceful).then(stopRequested(graceful));
    given(allocationDecider, queued, granted, stopRequested(graceful)).when(graceful).thenNothing();
    given(allocationDecider, queued, granted, stopRequested(graceful))
      .when(kill)
      .then(stopRequested(kill));
    given(allocationDecider, queued, granted, stopRequested(kill)).when(graceful).thenNothing();
  });

  test("keeps the scheduler's own stop when its trial withdraws the other", () => {
    const limit = { ...graceful, why: StopWhy.TIME_LIMIT } as const;
    const withdraw = { kind: "withdraw_stop" } as const;
    const withdrawn = (remains?: StopWhy): AllocationEvent => ({
      type: "AllocationStopWithdrawn",
      data: remains === undefined ? {} : { remains },
    });
    const running = [queued, granted, started] as const;
    given(allocationDecider, ...running, stopRequested(graceful))
      .when(withdraw)
      .then(withdrawn());
    for (const both of [
      [stopRequested(graceful), stopRequested(limit)],
      [stopRequested(limit), stopRequested(graceful)],
    ]) {
      given(allocationDecider, ...running, ...both)
        .when(withdraw)
        .then(withdrawn(StopWhy.TIME_LIMIT));
    }
    given(allocationDecider, ...running, stopRequested(limit))
      .when(withdraw)
      .thenNothing();
    given(allocationDecider, ...running, stopRequested(graceful), withdrawn())
      .when(withdraw)
      .thenNothing();
    given(allocationDecider, ...running, stopRequested(graceful), withdrawn())
      .when(graceful)
      .then(stopRequested(graceful));
  });

  test("keeps a stop that it has acknowledged, a kill, and none after its end", () => {
    const running = [queued, granted, started, stopRequested(graceful)] as const;
    const acknowledged: AllocationEvent = { type: "AllocationStopAcknowledged", data: {} };
    for (const last of [acknowledged, stopRequested(kill), ended]) {
      given(allocationDecider, ...running, last)
        .when({ kind: "withdraw_stop" })
        .thenNothing();
    }
  });

  test("acknowledges its stop once; a stop that was withdrawn after SIGTERM is requested again", () => {
    const running = [queued, granted, started, stopRequested(graceful)] as const;
    const acknowledge = { kind: "acknowledge_stop" } as const;
    const acknowledged: AllocationEvent = { type: "AllocationStopAcknowledged", data: {} };
    given(allocationDecider, ...running)
      .when(acknowledge)
      .then(acknowledged);
    given(allocationDecider, ...running, acknowledged)
      .when(acknowledge)
      .thenNothing();
    given(allocationDecider, ...running, { type: "AllocationStopWithdrawn", data: {} })
      .when(acknowledge)
      .then(stopRequested(graceful), acknowledged);
  });

  test("ignores a stop after its end, or before it exists", () => {
    given(allocationDecider).when(kill).thenNothing();
    given(allocationDecider, queued, granted, ended).when(kill).thenNothing();
  });

  test("ends once, with the reported result", () => {
    given(allocationDecider, queued, granted, started).when(end).then(ended);
    given(allocationDecider, queued, granted, ended).when(end).thenNothing();
  });

  test("counts as having acknowledged its stop when the end record says so", () => {
    const endRecord = { reason: EndReason.ACKNOWLEDGED_STOP, message: "" };
    given(allocationDecider, queued, granted, started)
      .when({ ...end, endRecord })
      .then(
        { type: "AllocationStopAcknowledged", data: {} },
        {
          type: "AllocationEnded",
          data: { cause: AllocationEndCause.EXITED, exits: [], endRecord, message: "" },
        },
      );
  });
});

describe("a run that is requested", () => {
  test("is queued under the run's id, with the defaults of omitted values", () => {
    const { allocation, command } = onRunRequested(
      "1.1",
      {
        run: 2,
        fromCheckpoint: "",
        fromStep: 0,
        preemptible: true,
        experiment: "1",
        delayMs: 0,
        workspace: "",
        owner: "",
        resources: { pool: "", slots: 1, priority: 0, weight: 0, singleAgent: false },
      },
      (pool) => (pool === "default" ? 42 : 50),
    );
    const data = { ...queued.data, run: 2 };
    given(allocationDecider).when(command).then({ type: "AllocationQueued", data });
    if (allocation !== "1.1#2") throw new Error(allocation);
  });

  test("is stopped under the run's id", () => {
    const { command } = onRunStopRequested("1.1", { ...graceful, run: 1 });
    given(allocationDecider, queued, granted).when(command).then(stopRequested(graceful));
  });
});

describe("the checkpoints that its agents have yet to deliver", () => {
  const sealed = (step: number) => ({ checkpoint: `c${step}`, step, bytes: 1 });

  test("are named by its end, each once, the most steps first, up to the event's limit", () => {
    const many = Array.from({ length: schedulerLimits.sealedOfRunMax + 3 }, (_, n) => sealed(n));
    const checkpoints = many.toReversed().slice(0, schedulerLimits.sealedOfRunMax);
    const data = { ...ended.data, sealed: { checkpoints } };
    given(allocationDecider, queued, granted, started)
      .when({ ...end, sealed: [...many, sealed(2)] })
      .then({ type: "AllocationEnded", data } as AllocationEvent);
  });

  test("are not recorded for an unknown allocation", () => {
    given(allocationDecider, queued, granted, started)
      .when({ ...end, sealed: [] })
      .then(ended);
  });
});

test("an end fits into an event, however long the texts of its nodes and its script are", () => {
  // Each character is escaped to six bytes.
  const text = "\u0001".repeat(300_000);
  const exits = Array.from({ length: 1_000 }, (_, nodeRank) => {
    return { nodeRank, agent: `agent-${nodeRank}`, code: 1, signal: text, message: text };
  });
  const endRecord = { reason: EndReason.ERROR, message: text };
  const decided = allocationDecider.decide(
    { ...allocationDecider.initial, status: "started" },
    { ...end, exits, endRecord, message: text },
  );
  assert(!isRejection(decided), "the end is decided on");
  const [event] = decided;
  assert(event?.type === "AllocationEnded", "it is the end");
  expect(Buffer.byteLength(encodeEvent(event).body)).toBeLessThan(limits.eventBodyBytesMax);
  expect(event.data.exits).toHaveLength(1_000);
});
