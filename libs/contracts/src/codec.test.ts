import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LaunchSchema } from "./agent.ts";
import { codecOf } from "./codec.ts";
import { decodeEvent, encodeEvent } from "./event-codec.ts";
import type { Launch } from "./gen/trainyard/agent/v1/agent_pb.ts";
import { CreateExperimentRequestSchema } from "./gen/trainyard/api/v1/experiments_pb.ts";
import { AllocationGrantedSchema } from "./gen/trainyard/event/v1/allocation_pb.ts";
import { ValidationReportedSchema } from "./gen/trainyard/event/v1/measurement_pb.ts";
import { type Upcasters, upcast } from "./upcasters.ts";

const double = fc.oneof(
  fc.double(),
  fc.constant(0),
  fc.constant("NaN"),
  fc.constant("Infinity"),
  fc.constant("-Infinity"),
);
const finite = (value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? "NaN" : Object.is(value, -0) ? 0 : value;

const validation = fc.record({
  trial: fc.string(),
  run: fc.nat(),
  step: double.map(finite),
  scalars: fc.dictionary(fc.string(), double.map(finite)),
  reportKey: fc.string(),
});

const granted = fc.record(
  {
    placements: fc.array(
      fc.record(
        {
          agent: fc.string(),
          slots: fc.array(fc.string()),
          nodeRank: fc.nat(),
          address: fc.string(),
        },
        { requiredKeys: [] },
      ),
    ),
    masterPort: fc.nat(),
  },
  { requiredKeys: [] },
);

const launch = fc.record(
  {
    allocation: fc.string(),
    shell: fc.string(),
    hyperparameters: fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<JsonValue>),
    trialSeed: fc.nat(),
  },
  { requiredKeys: [] },
);

describe("the compiled codec agrees with @bufbuild/protobuf", () => {
  it.each([
    ["a map of doubles", ValidationReportedSchema, validation],
    ["nested lists", AllocationGrantedSchema, granted],
    ["a oneof and a struct", LaunchSchema, launch],
  ] as const)("for %s", (_name, schema, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<JsonValue>, (json) => {
        const codec = codecOf<unknown>(schema);
        const theirs = toJson(schema, fromJson(schema, json));
        expect(codec.toJson(codec.fromJson(json))).toEqual(theirs);
      }),
    );
  });
});

describe("writing full JSON", () => {
  it("includes every default", () => {
    const codec = codecOf<unknown>(ValidationReportedSchema);
    const empty = { trial: "", run: 0, step: 0, scalars: {}, reportKey: "", nonNumeric: [] };
    expect(codec.toFullJson(codec.decode("{}"))).toEqual(empty);
    expect(codec.toJson(codec.decode("{}"))).toEqual({});
  });
});

describe("reading JSON", () => {
  it("fills in absent fields", () => {
    expect(codecOf<unknown>(ValidationReportedSchema).decode("{}")).toEqual({
      trial: "",
      run: 0,
      step: 0,
      scalars: {},
      reportKey: "",
      nonNumeric: [],
    });
  });

  it("does not share default values between messages", () => {
    const codec = codecOf<{ scalars: Record<string, number> }>(ValidationReportedSchema);
    codec.decode("{}").scalars["loss"] = 1;
    expect(codec.decode("{}").scalars).toEqual({});
  });

  it("keeps a metric that is called __proto__", () => {
    const codec = codecOf<{ scalars: Record<string, number> }>(ValidationReportedSchema);
    const text = '{"scalars":{"__proto__":1}}';
    expect(codec.encode(codec.decode(text))).toBe(text);
  });

  it("leaves an unset oneof empty", () => {
    expect(codecOf<Launch>(LaunchSchema).decode("{}").entrypoint).toEqual({ case: undefined });
  });

  it.each(['{"run":-1}', '{"run":1.5}', '{"trial":7}', '{"scalars":[]}', "[]", "{"])(
    "refuses %s",
    (text) => {
      expect(() => codecOf<unknown>(ValidationReportedSchema).decode(text)).toThrow(
        expect.objectContaining({ retry: "never", code: "undecodable" }),
      );
    },
  );
});

describe("events", () => {
  it("are read back as they were written", () => {
    const event = {
      type: "RunStarted",
      data: { run: 2, allocation: "12.3#2" },
    } as const;
    expect(decodeEvent(encodeEvent(event))).toEqual(event);
  });

  it("of an unknown type throw a Fault that must not be retried", () => {
    expect(() => decodeEvent({ type: "dev.trainyard.trial.Sang.v1", body: "{}" })).toThrow(
      expect.objectContaining({ code: "unknown_event_type", retry: "never" }),
    );
  });

  it("of an old type are upcast to the latest version", () => {
    const type = "dev.trainyard.allocation.WaitNoted.v1";
    // Each upcaster leads only to the next version: WaitNoted had its cause as text, and version 2 renames the field.
    const table: Upcasters = {
      [type]: (body) => {
        const { text } = JSON.parse(body) as { text?: string };
        return { type: `${type}2`, body: JSON.stringify({ detail: text ?? "" }) };
      },
      [`${type}2`]: (body) => {
        const { detail } = JSON.parse(body) as { detail: string };
        return {
          type: "dev.trainyard.allocation.WaitExplained.v1",
          body: JSON.stringify({ code: "WAIT_CODE_NOT_ENOUGH_FREE_SLOTS", detail }),
        };
      },
    };
    expect(decodeEvent(upcast({ type, body: '{"text":"full"}' }, table))).toEqual({
      type: "WaitExplained",
      data: { code: 3, detail: "full" },
    });
    expect(() => decodeEvent({ type, body: "{}" })).toThrow(/no event has the type/);
  });
});

describe("absent bytes", () => {
  const codec = codecOf<{ readonly context: Uint8Array }>(CreateExperimentRequestSchema);

  it("are read as empty, with a separate array for each message", () => {
    const [one, other] = [codec.fromJson({}), codec.fromJson({})];
    expect(one.context).toEqual(new Uint8Array());
    expect(one.context).not.toBe(other.context);
    expect(codec.toJson(one)).toEqual({});
  });
});
