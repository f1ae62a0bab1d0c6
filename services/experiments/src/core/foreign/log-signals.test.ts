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

test("cancel_retries keeps the latest runs that it matched, in order, up to a limit", () => {
  const events = [3, 2, 5, 2].map((run) =>
    matched({ action: "cancel_retries", run, policy: `p${run}` }),
  );
  const { finals } = fold(evolveLogSignals, initialLogSignals, events);
  expect(finals.map(({ run, policy }) => `${run} ${policy}`)).toEqual(["2 p2", "3 p3", "5 p5"]);
  const many = Array.from({ length: limits.finalRunsMax + 1 }, (_, n) =>
    matched({ action: "cancel_retries", run: n + 1 }),
  );
  expect(fold(evolveLogSignals, initialLogSignals, many).finals[0]?.run).toBe(2);
});

test("exclude_node keeps the latest agents that it matched, each once, up to a limit", () => {
  const exclude = (agent: string) => matched({ action: "exclude_node", agent });
  const few = fold(evolveLogSignals, initialLogSignals, [exclude("a"), exclude("b"), exclude("a")]);
  expect(few).toEqual({ finals: [], excluded: ["a", "b"] });
  const many = Array.from({ length: limits.excludedAgentsMax + 1 }, (_, n) => exclude(`a${n}`));
  const { excluded } = fold(evolveLogSignals, initialLogSignals, many);
  expect(excluded).toHaveLength(limits.excludedAgentsMax);
  expect(excluded.at(-1)).toBe(`a${limits.excludedAgentsMax}`);
});

test("a policy that only records matches, or an unknown action of a later version, changes nothing", () => {
  const events = [matched({}), matched({ action: "explode" })];
  expect(fold(evolveLogSignals, initialLogSignals, events)).toEqual(initialLogSignals);
});
