/**
 * The small schemas that sections are made of. Every key of a section is optional here; required keys are checked after
 * the defaults have been merged in (`missing` in part.ts). `null` means absent and is removed before these schemas
 * apply.
 */

import { z } from "zod";
import { isMapping, valueAt } from "../json.ts";
import { innerProblems, kindSentence } from "../sentences.ts";
import type * as values from "./values.ts";

export { z };

/** Text of at least one character. */
export const text = z.string().min(1);
/** Any text, also an empty one. */
export const anyText = z.string();
export const flag = z.boolean();
export const number = z.number();
/** Counts are unsigned 32-bit integers in events and commands. */
export const COUNT_MAX = 0xffff_ffff;
export const count = z.int().min(0).max(COUNT_MAX);
export const positive = z.int().min(1).max(COUNT_MAX);
export const texts = z.array(text);
/** A mapping that is passed on unchanged. */
export const freeMapping = z.record(z.string(), z.any());

export type Shape = Readonly<Record<string, z.ZodType>>;
/** All of these schemas, for sections that build theirs only when a configuration is parsed. */
export type Values = typeof values;

/** A mapping of only these keys, all optional. */
export function section<Keys extends Shape>(
  shape: Keys,
): z.ZodObject<{ [Key in keyof Keys]: z.ZodOptional<Keys[Key]> }, z.core.$strict> {
  return z.strictObject(shape).partial();
}

/** Several shapes without a key that selects one: a problem says what the whole value must be. */
export function oneOf(options: readonly [z.ZodType, ...z.ZodType[]], mustBe: string): z.ZodType {
  return z.union(options, { error: `must be ${mustBe}` });
}

/** The JSON Schema that is exported for a dispatched schema. */
export const exportedAs = new WeakMap<z.core.$ZodType, () => object>();

/**
 * Several shapes that are distinguished by the value itself, so that a problem refers to one shape only. `exported`
 * returns the JSON Schema of all shapes.
 */
export function dispatched(
  choose: (value: unknown) => z.ZodType,
  exported: () => object,
): z.ZodType {
  const schema = z.any().superRefine((value, context) => {
    for (const { path, detail } of innerProblems(choose(value), value)) {
      context.addIssue({ code: "custom", path: [...path], message: detail, input: value });
    }
  });
  exportedAs.set(schema, exported);
  return schema;
}

/** Returns the JSON Schema of a schema without dispatched parts. */
export function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

/** A mapping of only these keys, of which the first ones are required. */
export function entry(needed: Shape, optional: Shape): z.ZodObject {
  return z.strictObject(optional).partial().extend(needed);
}

/** A mapping whose kind is in `key`; without the key, the schema `untold` applies. */
export function byKind(key: string, told: z.ZodType, untold: z.ZodType): z.ZodType {
  return dispatched(
    (value) => (isMapping(value) && valueAt(value, key) === undefined ? untold : told),
    () => jsonSchemaOf(told),
  );
}

/** One of several mappings, selected by `key`; a message about an unknown kind lists the kinds in `ofUse`. */
export function oneOfKinds(
  key: string,
  kinds: readonly z.ZodObject[],
  ofUse: readonly string[],
): z.ZodType {
  const [first = section({}), ...others] = kinds;
  return z.discriminatedUnion(key, [first, ...others], { error: kindSentence(key, ofUse) });
}

/** A mapping with any key of some kind; only the keys common to all kinds are checked against their schema. */
export function keysOfAll(kinds: readonly z.ZodObject[], common: Shape): z.ZodType {
  const keys = kinds.flatMap((kind) => Object.keys(kind.shape));
  return section({ ...Object.fromEntries(keys.map((key) => [key, z.any()])), ...common });
}

const lengthOf = (unit: string, least: number): z.ZodType =>
  z.strictObject({ [unit]: count.min(least) });
const lengthFrom = (least: number): z.ZodType =>
  oneOf(
    [lengthOf("batches", least), lengthOf("records", least), lengthOf("epochs", least)],
    `a mapping with one key, batches, records or epochs, and a whole number of at least ${least}`,
  );

/** A length with its unit: `{batches: 100}`, `{records: 100}`, `{epochs: 1}`. */
export const length = lengthFrom(0);
export const positiveUnitLength = lengthFrom(1);

/** A length, or a bare number without a unit. */
export const searcherLength = oneOf(
  [count, positiveUnitLength],
  "a whole number, or a mapping of batches, records or epochs to one of at least 1",
);
