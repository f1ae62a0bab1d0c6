import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { isRejection } from "@trainyard/kernel";
import { LeavingEvent, readFilter } from "@trainyard/outbound";
import { emptyMeta } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { Facts, Subscription } from "../view/subscriptions-view.ts";
import { selectedBy } from "./selected.ts";

const all = { types: [], object: "", id: "", experiment: "", workspace: "", label: "", where: [] };

function leaving(stream: string, event: AnyEvent): LeavingEvent {
  const stored = {
    ...{ position: 1, stream, version: 1, id: "i", timeMs: 0, commitId: "c", meta: emptyMeta },
    ...encodeEvent(event),
  };
  return new LeavingEvent(stored, "e");
}

const matched = leaving("logsignal-12.1", {
  type: "LogPatternMatched",
  data: {
    ...{ subscription: "hook", line: "OOM", run: 1, agent: "a", nodeRank: 0, cursor: "1" },
    pattern: "OOM",
  },
});
const waited = leaving("subscription-hook", {
  type: "QueueWaitExceeded",
  data: { run: "12.1#1", experiment: "12", pool: "default", queuedAtMs: 0, waitMs: 5 },
});
const ended = leaving("experiment-12", {
  type: "ExperimentEnded",
  data: { outcome: 3, reason: "" },
});

function selected(part: object, webhooks: Facts["webhooks"] = null, namedOnly = false) {
  const filter = { ...all, ...part };
  const read = readFilter(filter);
  if (isRejection(read)) throw new Error(read.detail);
  const subscription: Subscription = {
    ...{ name: "hook", delivery: "webhook", life: 1, createdAtMs: 0, after: 0, filter },
    webhook: { format: "standard", logPattern: "OOM", queueWaitMs: 5, namedOnly },
    reader: { owner: "admin", tokenId: "aa", ancestors: [], expiresAtMs: 0 },
    ...{ expiresAfterMs: null, stopped: null, disabled: null },
  };
  const facts = new Map([["12", { workspace: "3", labels: ["nightly"], webhooks }]]);
  return [matched, waited, ended].map((event) => selectedBy(subscription, read, event, facts));
}

test.each([
  [{}, [true, true, false]],
  [{ workspace: "3", label: "nightly", experiment: "12" }, [true, true, false]],
  [{ workspace: "4" }, [false, false, false]],
  [{ label: "other" }, [false, false, false]],
  [{ experiment: "13" }, [false, false, false]],
  [{ types: ["ExperimentEnded"] }, [true, true, true]],
  [{ types: ["TrialEnded"] }, [true, true, false]],
  [{ object: "experiment", workspace: "4" }, [false, false, false]],
  [{ where: ["outcome=FAILED"], experiment: "12" }, [true, true, true]],
])(
  "a webhook with triggers and the filter %j gets its triggers and other events: %j",
  (part, expected) => {
    expect(selected(part)).toEqual(expected);
  },
);

test("an experiment that leaves a webhook out triggers it neither by a line nor by a wait", () => {
  const none = [false, false, false];
  expect(selected({}, { names: [], exclude: true })).toEqual(none);
  expect(selected({}, { names: ["other"], exclude: false })).toEqual(none);
  expect(selected({}, null, true)).toEqual(none);
  expect(selected({}, { names: ["hook"], exclude: false }, true)).toEqual([true, true, false]);
});
