import { ExperimentOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { activated, experimentCreated, stopRequested } from "../../testing/examples.ts";
import { limits } from "../../limits.ts";
import { experimentDecider as decider } from "./decide.ts";
import type { ExperimentEvent } from "./state.ts";
import type { WordsChange } from "./words.ts";

const noChange: WordsChange = { addLabels: [], removeLabels: [] };
const change = (words: Partial<WordsChange>, ifRevision?: number) =>
  ({ kind: "describe", words: { ...noChange, ...words }, ifRevision }) as const;
const described = (revision: number, over = {}): ExperimentEvent => ({
  type: "ExperimentDescribed",
  data: { name: "iris", description: "", labels: ["demo"], notes: "", revision, ...over },
});
const ended: ExperimentEvent = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
};

describe("changing the description of an experiment", () => {
  test("changes the given fields and keeps the others", () => {
    given(decider, experimentCreated())
      .when(change({ name: "wide iris", notes: "lr was too high", addLabels: ["b", "a"] }))
      .then(
        described(1, { name: "wide iris", notes: "lr was too high", labels: ["a", "b", "demo"] }),
      );
    given(decider, experimentCreated(), described(1, { notes: "kept" }))
      .when(change({ description: "", removeLabels: ["demo", "unknown"] }))
      .then(described(2, { notes: "kept", labels: [] }));
  });

  test("is possible in every state of its life", () => {
    const lives = [[], [activated], [activated, stopRequested()], [activated, ended]];
    for (const life of lives) {
      given(decider, experimentCreated(), ...life)
        .when(change({ notes: "n" }))
        .then(described(1, { notes: "n" }));
    }
  });

  test("writes nothing if nothing changes, in whatever order the labels are given", () => {
    const config = { labels: ["b", "a"] };
    const created = experimentCreated(config);
    const unordered = { ...created, data: { ...created.data, labels: ["b", "a"] } };
    given(decider, unordered)
      .when(change({ addLabels: ["a"] }))
      .thenNothing();
    given(decider, experimentCreated()).when(change({})).thenNothing();
  });

  test("refuses a revision that is not the latest", () => {
    const history = [experimentCreated(), described(1, { notes: "theirs" })];
    given(decider, ...history)
      .when(change({ notes: "mine" }, 0))
      .thenRejected("stale_revision");
    given(decider, ...history)
      .when(change({ notes: "mine" }, 2))
      .thenRejected("stale_revision");
    given(decider, ...history)
      .when(change({ notes: "mine" }, 1))
      .then(described(2, { notes: "mine" }));
  });

  test("accepts a repeat of the same change, although it names an older revision", () => {
    given(decider, experimentCreated(), described(1, { notes: "mine" }))
      .when(change({ notes: "mine" }, 0))
      .thenNothing();
  });

  test.each<[string, Partial<WordsChange>]>([
    ["a name of two lines", { name: "a\nb" }],
    ["a name with a terminal escape", { name: "\u001b[31mred" }],
    ["a name that is too long", { name: "n".repeat(limits.nameCharactersMax + 1) }],
    ["an empty label", { addLabels: [""] }],
    ["a label with spaces at its ends", { addLabels: [" a"] }],
    ["a label that is too long", { addLabels: ["l".repeat(limits.labelCharactersMax + 1)] }],
    ["a description that is too long", { description: "ä".repeat(limits.descriptionBytesMax) }],
    ["notes that are too long", { notes: "n".repeat(limits.notesBytesMax + 1) }],
    ["too many labels", { addLabels: Array.from({ length: limits.labelsMax }, (_, n) => `l${n}`) }],
  ])("refuses %s", (_what, words) => {
    given(decider, experimentCreated()).when(change(words)).thenRejected("invalid_request");
  });

  test("accepts values of the maximal length", () => {
    const most = {
      name: "n".repeat(limits.nameCharactersMax),
      description: "d".repeat(limits.descriptionBytesMax),
      notes: "n".repeat(limits.notesBytesMax),
    };
    given(decider, experimentCreated()).when(change(most)).then(described(1, most));
  });

  test("keeps labels of a configuration beyond the limits, as long as the change adds none", () => {
    const created = experimentCreated();
    const labels = Array.from({ length: limits.labelsMax + 5 }, (_, n) => `l${n + 100}`);
    const wide = { ...created, data: { ...created.data, labels } };
    given(decider, wide)
      .when(change({ notes: "n" }))
      .then(described(1, { notes: "n", labels }));
    given(decider, wide)
      .when(change({ addLabels: ["z"] }))
      .thenRejected("invalid_request");
  });

  test("is refused without an experiment", () => {
    given(decider)
      .when(change({ notes: "n" }))
      .thenRejected("experiment_not_found");
  });

  test("keeps the revision in the state", () => {
    const { state } = given(decider, experimentCreated(), described(1), described(2));
    expect(state.revision).toBe(2);
  });
});
