import { codecOf } from "@trainyard/contracts";
import {
  CheckpointSchema,
  EventSchema,
  GetVersionResponseSchema,
  ListCheckpointsResponseSchema,
  WatchFrameSchema,
} from "@trainyard/contracts/api";
import { expect, test } from "vitest";
import { Named } from "./named.ts";

const names = new Named({
  nameOf: (authid: string) => (authid === "user:0f3a" ? "Ada" : authid),
});

const checkpoint = (by: string) =>
  codecOf<object>(CheckpointSchema).fromJson({
    uuid: "c",
    reason: `${by} deletes it: of user:unknown`,
    pins: [{ holder: by, by }],
  });

const named = {
  uuid: "c",
  reason: "Ada deletes it: of user:unknown",
  pins: [{ holder: "Ada", by: "Ada" }],
};

test("persons have their names in lists, in parts and in sentences; unknown ids stay", () => {
  const items = [checkpoint("user:0f3a"), checkpoint("admin")];
  const answer = names.of(ListCheckpointsResponseSchema, { items });
  expect(answer.items).toMatchObject([named, { pins: [{ holder: "admin", by: "admin" }] }]);
  expect(answer.items[1]).toBe(items[1]);
});

test("persons have their names in the document of a frame, whose message is not changed", () => {
  const document = { case: "checkpoint", value: checkpoint("user:0f3a") };
  const frame = { frame: { case: "change", value: { topic: "t", id: "c", document } } };
  const before = structuredClone(frame);
  const answer = names.of(WatchFrameSchema, frame);
  expect(answer).toMatchObject({ frame: { value: { document: { value: named } } } });
  expect(frame).toEqual(before);
});

test("a message without persons, and an event, are returned as they are", () => {
  const version = { version: "user:0f3a", api: "", log: "" };
  expect(names.of(GetVersionResponseSchema, version)).toBe(version);
  const event = { authid: "user:0f3a", data: { owner: "user:0f3a" } };
  expect(names.of(EventSchema, event)).toBe(event);
});
