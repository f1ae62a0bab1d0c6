import { expect, test } from "vitest";
import { refusedTopics } from "./refused.ts";

const trials = JSON.stringify({ kind: "trials", experiment: "12" });
const trial = JSON.stringify({ kind: "trials", experiment: "1", id: "1.3" });
const filtered = JSON.stringify({ kind: "experiments", filter: "state = ERROR" });
const all = JSON.stringify({ kind: "experiments" });

test("a refusal with a topic's number concerns that topic", () => {
  expect(refusedTopics("topics[1].filter, column 3: x", [all, filtered])).toEqual([filtered]);
});

test("a refusal with an id concerns the topics with that id", () => {
  expect(refusedTopics("there is no experiment 12", [all, trials, trial])).toEqual([trials]);
  expect(refusedTopics("there is no trial 1.3.", [all, trials, trial])).toEqual([trial]);
});

test("a refusal without number and id concerns topics with a filter, or else the latest topic", () => {
  expect(refusedTopics("the query took too long", [all, filtered])).toEqual([filtered]);
  expect(refusedTopics("no", [trials, all])).toEqual([trials]);
});
