import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { metricsLimits } from "../limits.ts";
import { parseReports } from "./reports.ts";

const report = {
  key: "0-1",
  group: "training",
  stepsCompleted: 10,
  atMs: 1_700_000_000_000,
  metrics: { loss: 0.5 },
};

const parse = (body: unknown) => {
  const parsed = parseReports(body, metricsLimits);
  return isRejection(parsed) ? parsed : parsed.reports;
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}

function problems(body: unknown): readonly { readonly path: string }[] {
  const parsed = parse(body);
  expect(isRejection(parsed)).toBe(true);
  return isRejection(parsed) ? (parsed.problems ?? []) : [];
}

test("a report is parsed with all its fields", () => {
  expect(parse({ reports: [report] })).toEqual([
    {
      key: "0-1",
      group: "training",
      step: 10,
      atMs: 1_700_000_000_000,
      metrics: { loss: 0.5 },
      bytes: 54,
      rank: 0,
      aggregation: "mean",
      system: null,
    },
  ]);
});

test("a report may use all of proto JSON: original names, numbers as text, no metrics", () => {
  const { metrics: _, stepsCompleted: __, ...rest } = report;
  expect(parse({ reports: [{ ...rest, steps_completed: "10" }] })).toMatchObject([
    { step: 10, bytes: 2 },
  ]);
});

test("a report has the rank that measured it, and the way to combine ranks", () => {
  expect(parse({ reports: [{ ...report, rank: 3, aggregation: "sum" }] })).toMatchObject([
    { rank: 3, aggregation: "sum" },
  ]);
});

test("a backslash escape inside text is plain text, and names are limited in characters", () => {
  const metrics = { "\\u0000": 1, "\\\\ud800": "\\u0000" };
  const group = "😀".repeat(metricsLimits.nameCharactersMax);
  expect(parse({ reports: [{ ...report, group, metrics }] })).toMatchObject([{ metrics, group }]);
});

test("an empty list of reports is valid", () => {
  expect(parse({ reports: [] })).toEqual([]);
});

describe("an error names the path of the wrong value", () => {
  const long = "x".repeat(metricsLimits.nameCharactersMax + 1);
  const large = { text: "é".repeat(metricsLimits.metricsBytesMax / 2) };
  test.each([
    ["reports", null],
    ["reports", []],
    ["reports", {}],
    ["reports", { reports: { key: "0-1" } }],
    ["reports[0]", { reports: ["x"] }],
    ["reports[1]", { reports: [report, { ...report, stepsCompleted: "many" }] }],
    ["reports[0].key", { reports: [{ ...report, key: "" }] }],
    ["reports[0].key", { reports: [{ ...report, key: "a\0b" }] }],
    ["reports[0].key", { reports: [{ ...report, key: long }] }],
    ["reports[0].group", { reports: [{ ...report, group: "a\nb" }] }],
    ["reports[0].stepsCompleted", { reports: [{ ...report, stepsCompleted: -1 }] }],
    ["reports[0].stepsCompleted", { reports: [{ ...report, stepsCompleted: "NaN" }] }],
    ["reports[0].atMs", { reports: [{ ...report, atMs: "Infinity" }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: [1] }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: "x" }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: large }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: { "a\0b": 1 } }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: { a: { b: ["\\\0"] } } }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: { "\ud800": 1 } }] }],
    ["reports[0].group", { reports: [{ ...report, group: "\ud800" }] }],
    ["reports[0].metrics", { reports: [{ ...report, metrics: { ["é".repeat(513)]: 1 } }] }],
    ["reports[0].aggregation", { reports: [{ ...report, aggregation: "median" }] }],
    ["reports[0]", { reports: [{ ...report, metrics: { a: nested(100_000) } }] }],
  ])("%s", (path, body) => {
    expect(problems(body)).toMatchObject([{ path }]);
  });

  test("for several values at once, up to 16 errors", () => {
    const bad = Array.from({ length: 100 }, () => ({ ...report, key: "", group: "" }));
    expect(problems({ reports: bad }).length).toBe(16);
  });
});

describe("the option to refuse reports alone", () => {
  const large = { text: "x".repeat(metricsLimits.metricsBytesMax) };
  const bad = [
    { ...report, key: "0-2", metrics: large },
    { ...report, key: "0-3", stepsCompleted: -1, group: "" },
    { ...report, key: "0-4", atMs: {} },
  ];

  test("returns the valid reports, and the keys of the others with the reasons", () => {
    const parsed = parseReports({ reports: [...bad, report], refuseAlone: true }, metricsLimits);
    expect(parsed).toMatchObject({
      reports: [{ key: "0-1" }],
      refused: [
        { key: "0-2", reason: "metrics is more than 196608 bytes" },
        { key: "0-3", reason: expect.stringMatching(/^group is .*; stepsCompleted is a number/) },
        { key: "0-4", reason: expect.stringContaining("cannot be parsed") },
      ],
    });
  });

  test("does not cover a report without a valid key: the request is refused", () => {
    const body = { reports: [{ ...report, key: "" }, report], refuseAlone: true };
    expect(problems(body)).toMatchObject([{ path: "reports[0].key" }]);
  });

  test("is off by default: one invalid report refuses the whole request", () => {
    expect(problems({ reports: [bad[0], report] })).toMatchObject([{ path: "reports[0].metrics" }]);
  });
});

test("a report with too many names is refused alone", () => {
  const { namesPerReportMax } = metricsLimits;
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`metric ${n}`, 1]));
  const many = { ...report, key: "0-2", metrics: named(namesPerReportMax + 1) };
  const most = { ...report, metrics: named(namesPerReportMax) };
  expect(parseReports({ reports: [many, most], refuseAlone: true }, metricsLimits)).toMatchObject({
    reports: [{ key: "0-1" }],
    refused: [{ key: "0-2", reason: `metrics has more than ${namesPerReportMax} names` }],
  });
});

test("a request with too many reports is refused", () => {
  const reports = Array.from({ length: metricsLimits.reportsPerRequestMax + 1 }, () => report);
  expect(parse({ reports })).toMatchObject({ rejected: "too_many_reports" });
});

describe("a report of system metrics", () => {
  const value = { name: "utilization_percent", min: 1, mean: 2, max: 3 };
  const system = { node: 1, device: "0", samples: 10, values: [value] };
  const { metrics: _metrics, ...moment } = { ...report, group: "gpu" };

  test("is accepted instead of metrics", () => {
    expect(parse({ reports: [{ ...moment, system }] })).toMatchObject([
      { group: "gpu", metrics: {}, system },
    ]);
  });

  test("is parsed without a device, and from the first node", () => {
    const { node: _node, device: _device, ...rest } = system;
    expect(parse({ reports: [{ ...moment, system: rest }] })).toMatchObject([
      { system: { ...rest, node: 0, device: "" } },
    ]);
  });

  test.each([
    ["with metrics", { ...report, system }],
    ["with 0 samples", { ...moment, system: { ...system, samples: 0 } }],
    ["without values", { ...moment, system: { ...system, values: [] } }],
    ["with two values of one name", { ...moment, system: { ...system, values: [value, value] } }],
    [
      "with an unnamed value",
      { ...moment, system: { ...system, values: [{ ...value, name: "" }] } },
    ],
    [
      "with a value that is not finite",
      { ...moment, system: { ...system, values: [{ ...value, max: "NaN" }] } },
    ],
    [
      "with a value beyond all machines",
      { ...moment, system: { ...system, values: [{ ...value, max: 1e19 }] } },
    ],
    ["of a device that is no name", { ...moment, system: { ...system, device: "a\u0000b" } }],
  ])("is refused %s", (_, bad) => {
    expect(problems({ reports: [bad] })).toMatchObject([{ path: "reports[0].system" }]);
  });
});
