/** Turns zod's issues into messages: each completes "<path> …" and describes the right value. */
import { z } from "zod";
import { describeValue } from "./json.ts";
import { closest } from "./suggest.ts";

/** A problem inside a value: its relative path, and the text that completes the message. */
export type InnerProblem = { readonly path: readonly PropertyKey[]; readonly detail: string };

/** Returns all problems of a value by its schema alone. */
export function innerProblems(schema: z.ZodType, value: unknown): readonly InnerProblem[] {
  const result = schema.safeParse(value, { error: sentence });
  return (result.error?.issues ?? []).flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [{ path: issue.path, detail: issue.message }];
    const details = issue.message.split("\n");
    return issue.keys.map((key, index) => ({
      path: [...issue.path, key],
      detail: details[index] ?? "is not a known key",
    }));
  });
}

export function unknownKey(key: string, known: readonly string[]): string {
  const meant = closest(key, known);
  return `is not a known key${meant === null ? "" : `; "${meant}" is`}`;
}

const expectedWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const whole = issue.inst instanceof z.ZodNumberFormat;
      const expected = whole ? "a whole number" : (expectedWords[issue.expected] ?? issue.expected);
      if (issue.input === undefined) return `is missing: it must be ${expected}`;
      return `must be ${expected}, not ${describeValue(issue.input)}`;
    }
    case "too_small":
      return `must be ${atLeast(issue)}${soIs(issue.input)}`;
    case "too_big":
      return `must be at most ${issue.maximum}${soIs(issue.input)}`;
    case "invalid_value":
      return `must be ${listed(issue.values)}, not ${describeValue(issue.input)}`;
    case "unrecognized_keys": {
      const { inst } = issue;
      const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
      return issue.keys.map((key) => unknownKey(key, known)).join("\n");
    }
    default:
      return undefined;
  }
}

function atLeast(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  if (issue.origin === "string") return "text of at least one character";
  if (issue.origin === "array") return `a list of at least ${issue.minimum} item`;
  return issue.inclusive ? `at least ${issue.minimum}` : `greater than ${issue.minimum}`;
}

const soIs = (input: unknown): string =>
  typeof input === "number" ? `, not ${describeValue(input)}` : "";

function listed(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value));
  return words.length === 1 ? (words[0] ?? "") : `one of ${words.join(", ")}`;
}

/**
 * Returns the message for a mapping whose kind key is absent or unknown. `known` are the valid kinds; a value that is
 * no mapping gets the general message.
 */
export function kindSentence(key: string, known: readonly string[]) {
  return (issue: z.core.$ZodRawIssue): string | undefined => {
    if (issue.code !== "invalid_union") return undefined;
    const given = (issue.input as Readonly<Record<string, unknown>>)[key];
    const mustBe = `must be one of ${known.join(", ")}`;
    if (given === undefined) return `is missing: it ${mustBe}`;
    const meant = typeof given === "string" ? closest(given, known) : null;
    return `${mustBe}, not ${describeValue(given)}${meant === null ? "" : `; "${meant}" is one`}`;
  };
}
