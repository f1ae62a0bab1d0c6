import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import type { Decision } from "./decision.ts";
import { SetAside, shorter } from "./refused.ts";

const at = { id: "1.1#1", origin: null };

describe("a decision that the log refuses", () => {
  test("is shortened to the parts that say how the run ended", () => {
    const exits = [{ nodeRank: 0, agent: "a1", code: 1, signal: "", message: "m".repeat(2_000) }];
    const endRecord = { reason: EndReason.ERROR, message: "w".repeat(2_000) };
    const end = { kind: "end", cause: AllocationEndCause.EXITED, exits, endRecord } as const;
    const message = "m".repeat(2_000);
    expect(shorter({ on: "allocation", ...at, command: { ...end, message } }, "too large")).toEqual(
      {
        on: "allocation",
        ...at,
        command: {
          ...end,
          exits: [],
          endRecord: { reason: EndReason.ERROR, message: "w".repeat(limits.barestCharsMax) },
          message: "m".repeat(limits.barestCharsMax),
        },
      },
    );
  });

  test("about the runs of an agent keeps those that hold slots", () => {
    const occupations = [
      { allocation: "1.1#1", slots: ["0"] },
      { allocation: "1.2#1", slots: [] },
    ];
    const holder = { folder: "f1", place: "p1", startedMs: 1_000 };
    const command = { kind: "return", occupations, slots: [], holder } as const;
    expect(shorter({ on: "agent", id: "a1", origin: null, command }, "too large")).toMatchObject({
      command: { occupations: [{ allocation: "1.1#1", slots: ["0"] }] },
    });
  });

  test("without parts to leave out has no shorter form", () => {
    const command = { kind: "lose", reason: "silent" } as const;
    expect(shorter({ on: "agent", id: "a1", origin: null, command }, "too large")).toBeNull();
  });
});

test("an allocation that is set aside is not decided for a while, and others of the same stream are", () => {
  const aside = new SetAside();
  const lose: Decision = { on: "agent", ...at, command: { kind: "lose", reason: "silent" } };
  const clear: Decision = {
    on: "agent",
    ...at,
    command: { kind: "clear", allocation: "", slots: [] },
  };
  aside.add(lose, 0);
  expect([aside.has(lose, 1), aside.has(clear, 1)]).toEqual([true, false]);
  expect(aside.has(lose, limits.setAsideMs)).toBe(false);
});
