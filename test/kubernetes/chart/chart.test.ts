/** The chart over a matrix of values. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "@trainyard/kernel/services";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { needHelm } from "../programs.ts";
import { cases } from "./cases.ts";
import { chart, lint, manifestsOf, template } from "./helm.ts";
import { keysOf, keysSet, type Schema, walk } from "./schema-paths.ts";

const textOf = (file: string): string => readFileSync(join(chart, file), "utf8");
const yamlOf = (file: string): Record<string, unknown> =>
  parse(textOf(file)) as Record<string, unknown>;
const schema = JSON.parse(textOf("values.schema.json")) as Schema;

test.concurrent.for(Object.entries(cases))(
  "the chart with %s passes helm's lint, and is the same twice",
  async ([, given], { skip }) => {
    needHelm(skip);
    const [linted, first, second] = await Promise.all([
      lint(given),
      template(given),
      template(given),
    ]);
    expect(linted).toContain("0 chart(s) failed");
    expect(first).toBe(second);
    expect(manifestsOf(first).length).toBeGreaterThan(20);
  },
);

test("every key of the schema has a case in which it is not at its default", () => {
  const defaults = yamlOf("values.yaml");
  const set = new Set(
    Object.values(cases).flatMap(({ values }) => [...keysSet(schema, values, defaults)]),
  );
  expect(keysOf(schema).filter((key) => !set.has(key))).toEqual([]);
});

test("the schema refuses unknown keys at every level", () => {
  const open: string[] = [];
  walk(schema, "", (one, place) => {
    const isObject = one.type === "object" || one.properties !== undefined;
    // Helm puts what it likes below `global`, and the other ones are maps whose keys are the person's.
    const isMap = typeof one.additionalProperties === "object" && one.properties === undefined;
    if (isObject && one.additionalProperties !== false && !isMap) open.push(place);
  });
  expect(open).toEqual(["/global"]);
});

test("values.yaml has exactly the values of the schema, each with a comment or in a commented block", () => {
  const defaults = yamlOf("values.yaml");
  const keys = Object.keys(schema.properties ?? {}).sort();
  expect(Object.keys(defaults).sort()).toEqual(keys);
  for (const [name, shared] of [
    ["serviceDefaults", "service"],
    ["agentDefaults", "agent"],
  ] as const) {
    const known = Object.keys(schema.$defs?.[shared]?.properties ?? {}).sort();
    expect(Object.keys(defaults[name] as object).sort()).toEqual(known);
  }
});

test("the chart has the version of the platform and its services", () => {
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(yamlOf("Chart.yaml")).toMatchObject({ version, appVersion: version });
  const names = services.map(({ name }) => name).sort();
  expect(Object.keys(yamlOf("files/services.yaml")).sort()).toEqual(names);
  expect(Object.keys(yamlOf("values.yaml")["services"] as object).sort()).toEqual(names);
});
