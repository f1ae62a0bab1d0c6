/** The examples of docs/operate/kubernetes.md and of values.yaml are values that the chart takes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { needHelm } from "../programs.ts";
import { required } from "./cases.ts";
import { chart, manifestsOf, template } from "./helm.ts";
import { ofKind } from "./manifests.ts";
import { objectsOf } from "./rendered.ts";

const page = readFileSync(join(checkout, "docs/operate/kubernetes.md"), "utf8");
const shown = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);
/** The example of agents, which is a comment. */
const commented = readFileSync(join(chart, "values.yaml"), "utf8")
  .split("\n")
  .filter((line) => /^# {2}\s*\w/.test(line))
  .map((line) => line.slice(1));

test("the first example of the page is enough to install", async ({ skip }) => {
  needHelm(skip);
  const objects = manifestsOf(await template({ values: parse(shown[0] ?? "") as object }));
  expect(ofKind(objects, "Deployment").length).toBe(10);
});

test("the other examples of the page, and that of values.yaml, are values", async ({ skip }) => {
  needHelm(skip);
  const others = [...shown.slice(1), `agents:\n${commented.join("\n")}`];
  expect(others.length).toBeGreaterThan(2);
  for (const text of others) {
    const values = { ...required, ...(parse(text) as object) };
    expect(manifestsOf(await template({ values })).length).toBeGreaterThan(20);
  }
});

test("the commands of the page that start another version wait longer than helm does by itself, as Deployments do", async ({
  skip,
}) => {
  needHelm(skip);
  const starts = [...page.matchAll(/^helm (?:upgrade|rollback) .*$/gm)].map(([all]) => all);
  const waiting = starts.filter((command) => !command.includes("stopped=true"));
  expect(waiting.length).toBe(4);
  for (const command of waiting) expect(command).toMatch(/ --wait --timeout 1h$/);
  for (const { spec } of ofKind(await objectsOf("the least"), "Deployment"))
    expect(spec).toMatchObject({ progressDeadlineSeconds: 3_600 });
});

test("the values that commands of the page set are there", () => {
  const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as object;
  const set = [...page.matchAll(/--set ([\w.-]+)=/g)].map(([, path = ""]) => path);
  expect(set.length).toBeGreaterThan(3);
  for (const path of set) {
    const last = path.split(".").at(-1) ?? "";
    expect(JSON.stringify(schema)).toContain(`"${last}":`);
  }
});
