/** Compares docs/operate/metrics.md with the metrics in the code, and bounds their number in a large cluster. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventFixtures } from "./fixtures.ts";
import { type Metric, metricsOf, registries } from "./metrics/registries.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operate/metrics.md"), "utf8");

/** The cells of the rows of a part's table, without the padding. */
function rowsOf(heading: string): readonly string[] {
  const part = page.split(/^(?=## )/m).find((one) => one.startsWith(`## ${heading}\n`)) ?? "";
  return part
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.replace(/ +\|/g, " |"));
}

function rowOf({ name, type, labels, help }: Metric): string {
  const named = labels.map((label) => `\`${label}\``).join(", ");
  return `| \`${name}\` | ${type} | ${named === "" ? "" : `${named} `}| ${help} |`;
}

test("the page of metrics has each metric of each service, with its type, labels and meaning", async () => {
  for (const [service, { registry }] of registries()) {
    const wanted = (await metricsOf(registry)).map(rowOf);
    const heading = service === "all" ? "All services and agents" : service;
    expect(rowsOf(heading).toSorted(), heading).toEqual(wanted.toSorted());
  }
});

test("each label has a bound on the page, and is no id, user or address", async () => {
  const bounded = rowsOf("Labels").map((row) => row.split("`")[1]);
  const used = new Set<string>();
  for (const { registry } of registries().values())
    for (const { labels } of await metricsOf(registry)) for (const one of labels) used.add(one);
  expect([...used].toSorted()).toEqual(bounded.toSorted());
  const unbounded =
    /^(id|experiment|trial|run|task|user|owner|agent|host|address|workspace|token)$/;
  expect([...used].filter((label) => unbounded.test(label))).toEqual([]);
});

async function seriesAfter(experiments: number): Promise<number> {
  const made = registries();
  for (let experiment = 1; experiment <= experiments; experiment += 1) {
    for (const { type, body } of eventFixtures) {
      const [category = "", id] = [type.split(".")[2], `${experiment}.1`];
      const stored = { position: experiment, version: 1, timeMs: 0, commitId: "", type, body };
      const meta = { source: "", workspace: "", correlationid: "", causationid: "" };
      const event = { ...stored, meta: { ...meta, authid: "", traceparent: "" } };
      for (const { count } of made.values())
        count?.({ ...event, id: `${experiment}`, stream: `${category}-${id}` });
    }
  }
  let series = 0;
  for (const { registry } of made.values()) {
    const lines = (await registry.metrics()).split("\n");
    series += lines.filter((line) => line.startsWith("trainyard_")).length;
  }
  return series;
}

test("a cluster with 1,000 experiments has the series of one with a single experiment", async () => {
  const [one, thousand] = [await seriesAfter(1), await seriesAfter(1_000)];
  expect(thousand).toBe(one);
  expect(thousand).toBeLessThan(1_000);
});
