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
import { enumFixtures, eventFixtures } from "./fixtures.ts";
import { enumsOf, fieldPaths, heldPaths } from "./frozen-fields.ts";

const current = eventFixtures.filter(({ type }) => upcasters[type] === undefined);
const old = eventFixtures.filter(({ type }) => upcasters[type] !== undefined);

describe("a stored event of today's types", () => {
  it("has a fixture for each type", () => {
    const types = eventTypes.map(({ type }) => type).toSorted();
    const frozen = new Set(current.map(({ type }) => type));
    expect([...frozen].toSorted()).toEqual(types);
  });

  it.each(eventTypes)("$type has each of its fields in a fixture", ({ type, schema }) => {
    const bodies = current.filter((fixture) => fixture.type === type).map(({ body }) => body);
    const held = new Set(bodies.flatMap((body) => heldPaths(schema, JSON.parse(body))));
    expect(fieldPaths(schema).filter((path) => !held.has(path))).toEqual([]);
  });

  it("has the enum values of the fixture", () => {
    const enums = eventTypes.flatMap(({ schema }) => enumsOf(schema));
    expect(Object.fromEntries(enums)).toEqual(enumFixtures);
  });

  it.each(current)("$name keeps the same text when it is read and written", ({ type, body }) => {
    expect(encodeEvent(decodeEvent({ type, body }))).toEqual({ type, body });
  });

  it.each(current)("$name can be read with every field omitted", ({ type }) => {
    expect(decodeEvent({ type, body: "{}" }).type).toBe(eventTypeOf(type)?.name);
  });

  it.each(current)("$name can be read with fields that a later version adds", ({ type, body }) => {
    const later = { ...(JSON.parse(body) as object), addedLater: { deep: [1] } };
    expect(decodeEvent({ type, body: JSON.stringify(later) })).toEqual(decodeEvent({ type, body }));
  });
});

describe("a stored event of an old type", () => {
  it("has a fixture for each upcaster", () => {
    expect(old.map(({ type }) => type).toSorted()).toEqual(Object.keys(upcasters).toSorted());
  });

  it.each(old)("$type is read as an event of today's type", ({ type, body }) => {
    const path = join(import.meta.dirname, "upcasts", `${type}.json`);
    const wanted = JSON.parse(readFileSync(path, "utf8")) as { type: string; body: unknown };
    const read = upcast({ type, body });
    expect({ type: read.type, body: JSON.parse(read.body) }).toEqual(wanted);
    expect(decodeEvent({ type, body }).type).toBe(eventTypeOf(wanted.type)?.name);
  });
});
