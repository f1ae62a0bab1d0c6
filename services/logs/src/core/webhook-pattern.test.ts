import type { AnyEvent } from "@trainyard/contracts";
import { SubscriptionDelivery } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { evolvePattern, isSought, noPattern } from "./webhook-pattern.ts";

const settings = (logPattern: string, experiment = "") => ({
  filter: {
    ...{ types: [], object: "", id: "", experiment, workspace: "", label: "", where: [] },
  },
  webhook: { format: "slack", logPattern, namedOnly: false },
});
const created: AnyEvent = {
  type: "SubscriptionCreated",
  data: { delivery: SubscriptionDelivery.WEBHOOK, after: 0, ...settings("OOM") },
};
const changed = (pattern: string, experiment = ""): AnyEvent => ({
  type: "SubscriptionChanged",
  data: { ...settings(pattern, experiment), destinationChanged: false },
});
const sought = (...events: readonly AnyEvent[]): readonly boolean[] => {
  const state = events.reduce(evolvePattern, noPattern);
  return ["12", "t3"].map((id) => isSought(state, id));
};

test("lines are compared with the pattern of an active webhook, of the experiment that its filter names", () => {
  const stopped: AnyEvent = { type: "SubscriptionStopped", data: { tokenId: "aa", reason: "" } };
  const adopted: AnyEvent = { type: "SubscriptionAdopted", data: {} };
  const disabled: AnyEvent = { type: "SubscriptionDisabled", data: { reason: "", by: "" } };
  const enabled: AnyEvent = { type: "SubscriptionEnabled", data: { by: "" } };
  const deleted: AnyEvent = { type: "SubscriptionDeleted", data: { reason: "", by: "" } };
  expect(sought(created)).toEqual([true, true]);
  expect(sought(created, changed("OOM", "12"))).toEqual([true, false]);
  expect(sought(created, changed(""))).toEqual([false, false]);
  expect(sought(created, disabled)).toEqual([false, false]);
  expect(sought(created, disabled, changed("NaN"))).toEqual([false, false]);
  expect(sought(created, disabled, enabled)).toEqual([true, true]);
  expect(sought(created, stopped)).toEqual([false, false]);
  expect(sought(created, stopped, adopted)).toEqual([true, true]);
  expect(sought(created, disabled, deleted)).toEqual([false, false]);
  expect(sought(created, disabled, deleted, created)).toEqual([true, true]);
});
