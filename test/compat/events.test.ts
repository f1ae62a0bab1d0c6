import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeEvent,
  encodeEvent,
  eventTypeOf,
  eventTypes,
  upcast,
  upcasters,
} from "@trainyard/contracts";
import { describe, expect, it } from "vitest";
import { eventFixtures } from "./fixtures.ts";

const current = eventFixtures.filter(({ type }) => upcasters[type] === undefined);
const old = eventFixtures.filter(({ type }) => upcasters[type] !== undefined);

describe("a stored event of today's types", () => {
  it("has a fixture for each type", () => {
    const types = eventTypes.map(({ type }) => type).toSorted();
    expect(current.map(({ type }) => type).toSorted()).toEqual(types);
  });

  it.each(current)("$type reads and writes the same text for ever", ({ type, body }) => {
    expect(encodeEvent(decodeEvent({ type, body }))).toEqual({ type, body });
  });

  it.each(current)("$type is read with every field left out", ({ type }) => {
    expect(decodeEvent({ type, body: "{}" }).type).toBe(eventTypeOf(type)?.name);
  });

  it.each(current)("$type is read with fields that a later version adds", ({ type, body }) => {
    const later = { ...(JSON.parse(body) as object), addedLater: { deep: [1] } };
    expect(decodeEvent({ type, body: JSON.stringify(later) })).toEqual(decodeEvent({ type, body }));
  });
});

describe("a stored event of an old type", () => {
  it("has a fixture for each upcaster", () => {
    expect(old.map(({ type }) => type).toSorted()).toEqual(Object.keys(upcasters).toSorted());
  });

  it.each(old)("$type is read as today's", ({ type, body }) => {
    const path = join(import.meta.dirname, "upcasts", `${type}.json`);
    const wanted = JSON.parse(readFileSync(path, "utf8")) as { type: string; body: unknown };
    const read = upcast({ type, body });
    expect({ type: read.type, body: JSON.parse(read.body) }).toEqual(wanted);
    expect(decodeEvent({ type, body }).type).toBe(eventTypeOf(wanted.type)?.name);
  });
});
