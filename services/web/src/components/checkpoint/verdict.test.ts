import { expect, test } from "vitest";
import { time } from "../format.ts";
import { policyText, verdictParts, verdictText } from "./verdict.ts";

const verdict = { keeps: false, keptBy: [], waits: "", state: "DELETED", by: "" };

test("a kept checkpoint lists each reason that keeps it", () => {
  const keptBy = ["best 1 of the experiment", "alias champion of iris"];
  expect(verdictText({ ...verdict, keeps: true, keptBy, state: "COMPLETED" })).toBe(
    "Kept: best 1 of the experiment; alias champion of iris",
  );
});

test("a checkpoint that is not kept shows its state, who deleted it, until when it can be restored, and what it waits for", () => {
  expect(verdictText({ ...verdict, by: "ada", graceEndMs: 5_000, waits: "a download" })).toBe(
    `DELETED by ada, can be brought back until ${time(5_000)}; waits: a download`,
  );
  expect(verdictText(verdict)).toBe("DELETED");
  expect(verdictText({ ...verdict, state: "condemned" })).toBe("to be deleted");
});

test("a row begins with the time until which a checkpoint can be brought back", () => {
  const condemned = { ...verdict, state: "condemned", by: "ada", graceEndMs: 5_000 };
  expect(verdictParts({ ...condemned, waits: "a download" })).toEqual({
    whole: `can be brought back until ${time(5_000)}`,
    rest: ", deleted by ada; waits: a download",
  });
  const kept = { ...condemned, keeps: true, keptBy: ["best 1 of the experiment"] };
  expect(verdictParts(kept)).toEqual({ whole: "", rest: "Kept: best 1 of the experiment" });
  expect(verdictParts(undefined)).toEqual({ whole: "", rest: "" });
});

test("an unknown verdict has no text", () => {
  expect(verdictText(undefined)).toBe("");
});

test("a policy lists the checkpoints it keeps, without rules that keep none", () => {
  const none = { saveExperimentBest: 0, saveTrialBest: 0, saveTrialLatest: 0 };
  expect(policyText({ ...none, saveTrialBest: 1, saveTrialLatest: 1 })).toBe(
    "The policy keeps the best of each trial and the latest of each trial.",
  );
  expect(policyText({ ...none, saveExperimentBest: 3 })).toBe(
    "The policy keeps the 3 best of the experiment.",
  );
  expect(policyText(none)).toBe("The policy keeps no checkpoint.");
});
