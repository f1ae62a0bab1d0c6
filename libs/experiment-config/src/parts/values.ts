/**
 * The small schemas that sections are made of. Every key of a section may be left out: what has to be there is asked
 * for after the defaults have been merged in (`completeness.ts`). `null` means absent and is gone before these look.
 */

import { z } from "zod";
import { isMapping, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import { innerProblems, kindSentence } from "../sentences.ts";
import type * as values from "./values.ts";

export { z };

/** Text of at least one character. */
export const text = z.string().min(1);
/** Any text, also none. */
export const anyText = z.string();
export const flag = z.boolean();
export const number = z.number();
/** Counts are unsigned 32-bit integers in events and commands. */
export const COUNT_MAX = 0xffff_ffff;
export const count = z.int().min(0).max(COUNT_MAX);
export const positive = z.int().min(1).max(COUNT_MAX);
export const texts = z.array(text);
/** A mapping that is handed through as it is. */
export const freeMapping = z.record(z.string(), z.any());

export const trials = z.int().min(1).max(configLimits.trialsPerSearchMax);

export type Shape = Readonly<Record<string, z.ZodType>>;
/** All of these schemas, for sections that make theirs only where a configuration is parsed. */
export type Values = typeof values;

/** A mapping of exactly these keys, each of which may be left out. */
export function section<Keys extends Shape>(
  shape: Keys,
): z.ZodObject<{ [Key in keyof Keys]: z.ZodOptional<Keys[Key]> }, z.core.$strict> {
  return z.strictObject(shape).partial();
}

/** Several shapes without a key that says which is meant: a problem names what the whole must be. */
export function oneOf(options: readonly [z.ZodType, ...z.ZodType[]], mustBe: string): z.ZodType {
  return z.union(options, { error: `must be ${mustBe}` });
}

/** The schema that is exported for a dispatched one. */
export const exportedAs = new WeakMap<z.core.$ZodType, () => object>();

/**
 * Several shapes; the value itself shows which one is meant: a problem is then reported against that one and
 * not against all of them. `exported` gives the JSON Schema of them all.
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

/** The JSON Schema of a schema that dispatches nowhere. */
export function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

/** A mapping of exactly these keys, of which the first ones have to be there. */
export function entry(needed: Shape, optional: Shape): z.ZodObject {
  return z.strictObject(optional).partial().extend(needed);
}

/** A mapping whose kind is in the key; where the key is absent it is held against `untold`. */
export function byKind(key: string, told: z.ZodType, untold: z.ZodType): z.ZodType {
  return dispatched(
    (value) => (isMapping(value) && valueAt(value, key) === undefined ? untold : told),
    () => jsonSchemaOf(told),
  );
}

/**
 * One of several mappings, chosen by the key; a sentence about another value of it names the kinds that are `of
 * use`.
 */
export function oneOfKinds(
  key: string,
  kinds: readonly z.ZodObject[],
  ofUse: readonly string[],
): z.ZodType {
  const [first = section({}), ...others] = kinds;
  return z.discriminatedUnion(key, [first, ...others], { error: kindSentence(key, ofUse) });
}

/** Any keys that some of the kinds have, of which only those that all have can be held against their schema. */
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

/** `{batches: 100}`, `{records: 100}`, `{epochs: 1}`. */
export const length = lengthFrom(0);
export const positiveUnitLength = lengthFrom(1);

/** A length, or a bare number of no unit. */
export const searcherLength = oneOf(
  [count, positiveUnitLength],
  "a whole number, or a mapping of batches, records or epochs to one of at least 1",
);
