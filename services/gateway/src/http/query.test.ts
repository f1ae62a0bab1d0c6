import {
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  UninterpretedOptionSchema,
} from "@bufbuild/protobuf/wkt";
import { ListTrialsRequestSchema, WatchEventsRequestSchema } from "@trainyard/contracts/api";
import { describe, expect, test } from "vitest";
import { Problem } from "./problem.ts";
import { readQuery } from "./query.ts";

// A message of protobuf itself, which has fields of every kind.
const field = FieldDescriptorProtoSchema;
const file = FileDescriptorProtoSchema;
const option = UninterpretedOptionSchema;

function refusal(...args: Parameters<typeof readQuery>): Problem {
  try {
    readQuery(...args);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("the query was read");
}

describe("a query value is read by the type of its field", () => {
  test.each(["true", "false", "7", "null", ""])("text that looks like %j stays text", (spelled) => {
    expect(readQuery(WatchEventsRequestSchema, { experiment: spelled, noFollow: "true" })).toEqual({
      experiment: spelled,
      noFollow: true,
    });
  });

  test("a boolean is the word true or false", () => {
    expect(readQuery(field, { proto3Optional: "false" })).toEqual({ proto3Optional: false });
  });

  test("an integer of 32 bits is a number", () => {
    expect(readQuery(ListTrialsRequestSchema, { pageSize: "25" })).toEqual({ pageSize: 25 });
    expect(readQuery(field, { number: "-2147483648" })).toEqual({ number: -2_147_483_648 });
  });

  test("an integer of 64 bits keeps all its digits as text", () => {
    const query = { positiveIntValue: "18446744073709551615", negativeIntValue: "-0" };
    expect(readQuery(option, query)).toEqual({
      positiveIntValue: "18446744073709551615",
      negativeIntValue: "0",
    });
  });

  test("a number may be a fraction, NaN or infinite", () => {
    expect(readQuery(option, { doubleValue: "-1.5e3" })).toEqual({ doubleValue: -1500 });
    expect(readQuery(option, { doubleValue: "NaN" })).toEqual({ doubleValue: "NaN" });
    expect(readQuery(option, { doubleValue: "-Infinity" })).toEqual({ doubleValue: "-Infinity" });
  });

  test("an enum has a name or a number", () => {
    expect(readQuery(field, { label: "LABEL_REPEATED" })).toEqual({ label: "LABEL_REPEATED" });
    expect(readQuery(field, { label: "3" })).toEqual({ label: "LABEL_REPEATED" });
  });

  test("a list has one parameter per value", () => {
    expect(readQuery(file, { dependency: ["a", "true"], publicDependency: "4" })).toEqual({
      dependency: ["a", "true"],
      publicDependency: [4],
    });
    const targets = ["TARGET_TYPE_FILE", "4"];
    expect(readQuery(FieldOptionsSchema, { targets })).toEqual({
      targets: ["TARGET_TYPE_FILE", "TARGET_TYPE_FIELD"],
    });
  });

  test("a field has two names, of proto and of JSON", () => {
    expect(readQuery(WatchEventsRequestSchema, { no_follow: "true" })).toEqual({ noFollow: true });
  });

  test("a parameter without a field is ignored, and so is one whose field is in the path", () => {
    const query = { later: "x", experiment: "2", pageSize: "5" };
    expect(readQuery(ListTrialsRequestSchema, query, ["experiment"])).toEqual({ pageSize: 5 });
  });
});

describe("an invalid query value is refused with its name and the expected form", () => {
  const refused: readonly [Parameters<typeof readQuery>, string][] = [
    [[WatchEventsRequestSchema, { noFollow: "1" }], 'noFollow is "1" and should be true or false'],
    [
      [ListTrialsRequestSchema, { page_size: "many" }],
      'page_size is "many" and should be an integer from 0 to 4294967295',
    ],
    [
      [ListTrialsRequestSchema, { pageSize: "4294967296" }],
      'pageSize is "4294967296" and should be an integer from 0 to 4294967295',
    ],
    [
      [field, { number: "1.5" }],
      'number is "1.5" and should be an integer from -2147483648 to 2147483647',
    ],
    [
      [option, { positiveIntValue: "-1" }],
      'positiveIntValue is "-1" and should be an integer from 0 to 18446744073709551615',
    ],
    [
      [option, { doubleValue: "" }],
      'doubleValue is "" and should be a number, NaN, Infinity or -Infinity',
    ],
    [[option, { stringValue: "*" }], 'stringValue is "*" and should be base64'],
    [
      [field, { label: "MAYBE" }],
      'label is "MAYBE" and should be one of LABEL_OPTIONAL, LABEL_REPEATED, LABEL_REQUIRED, or its number',
    ],
    [
      [file, { publicDependency: ["1", "x"] }],
      'publicDependency is "x" and should be an integer from -2147483648 to 2147483647',
    ],
    [
      [ListTrialsRequestSchema, { pageToken: ["a", "b"] }],
      "pageToken is given 2 times and takes one value",
    ],
    [[field, { options: "{}" }], "options cannot be given in a query"],
  ];

  test.each(refused)("%#: %s", (args, detail) => {
    const { status, code, message } = refusal(...args);
    expect({ status, code, message }).toEqual({
      status: 400,
      code: "invalid_request",
      message: `the query parameter ${detail}`,
    });
  });

  test("a query with several invalid values names all of them", () => {
    const query: Partial<Record<keyof FieldDescriptorProto, string>> = {
      number: "x",
      proto3Optional: "x",
    };
    expect(refusal(field, query).problems.map(({ path }) => path)).toEqual([
      "number",
      "proto3Optional",
    ]);
  });
});
