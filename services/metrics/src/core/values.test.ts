import { describe, expect, test } from "vitest";
import { type JsonObject, metricsText, valuesOf } from "./values.ts";

describe("values of a report", () => {
  test("are scalars if they are numbers, NaN or an infinity, and are stored unchanged otherwise", () => {
    const metrics = {
      loss: 0.25,
      diverged: "NaN",
      up: "Infinity",
      down: "-Infinity",
      note: "nan",
      flag: true,
      nothing: null,
      histogram: [1, 2, { deep: "NaN" }],
    };
    expect(valuesOf(metrics)).toEqual({
      scalars: { loss: 0.25, diverged: Number.NaN, up: Infinity, down: -Infinity },
      others: { note: "nan", flag: true, nothing: null, histogram: [1, 2, { deep: "NaN" }] },
    });
  });

  test("may have names of built-in object properties", () => {
    const metrics = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": "x"}') as JsonObject;
    const { scalars, others } = valuesOf(metrics);
    expect(Object.entries(scalars)).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
    ]);
    expect(others).toEqual({ toString: "x" });
  });

  test("are read back as sent, also numbers beyond a double's range", () => {
    const sent = JSON.parse('{"a": 1e400, "b": [-1e400], "c": 0.1, "d": "\\u0000"}') as JsonObject;
    const back = JSON.parse(metricsText(sent)) as JsonObject;
    expect(back).toEqual({ a: "Infinity", b: ["-Infinity"], c: 0.1, d: "\0" });
    expect(valuesOf(back).scalars["a"]).toBe(Number.POSITIVE_INFINITY);
  });
});
