import type { EventData } from "@trainyard/contracts";
import { fold } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { evolveLogSignals, initialLogSignals } from "./log-signals.ts";

const matched = (data: Partial<EventData<"LogPolicyMatched">>) =>
  ({
    type: "LogPolicyMatched",
    data: {
      policy: "p",
      action: "",
      line: "",
      run: 1,
      agent: "a",
      nodeRank: 0,
      cursor: "1",
      ...data,
    },
  }) as const;

test("cancel_retries counts from the earliest run that it matched in", () => {
  const events = [3, 2, 5].map((run) =>
    matched({ action: "cancel_retries", run, policy: `p${run}` }),
  );
  expect(fold(evolveLogSignals, initialLogSignals, events).final).toEqual({ run: 2, policy: "p2" });
});

test("exclude_node names each agent once, and the latest of very many", () => {
  const exclude = (agent: string) => matched({ action: "exclude_node", agent });
  const few = fold(evolveLogSignals, initialLogSignals, [exclude("a"), exclude("b"), exclude("a")]);
  expect(few).toEqual({ final: null, excluded: ["a", "b"] });
  const many = Array.from({ length: limits.excludedAgentsMax + 1 }, (_, n) => exclude(`a${n}`));
  const { excluded } = fold(evolveLogSignals, initialLogSignals, many);
  expect(excluded).toHaveLength(limits.excludedAgentsMax);
  expect(excluded.at(-1)).toBe(`a${limits.excludedAgentsMax}`);
});

test("a policy that only tells, or an action of a later version, changes nothing", () => {
  const events = [matched({}), matched({ action: "explode" })];
  expect(fold(evolveLogSignals, initialLogSignals, events)).toEqual(initialLogSignals);
});
