/** Tests deploy/prometheus and deploy/grafana without a cluster; test/e2e asks a cluster for each expression. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alertsFolder, needPrometheus } from "../world/prometheus.ts";
import { alerts, boards, expressions } from "../compat/metrics/expressions.ts";
import { metricsOf, registries } from "../compat/metrics/registries.ts";

const runbooks = join(import.meta.dirname, "../../docs/operate/runbooks");

function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: alertsFolder });
  return `${status} ${stdout}${stderr}`;
}

test("promtool accepts the alerts and the example of a configuration", ({ skip }) => {
  needPrometheus(skip);
  expect(promtool("check", "config", "prometheus.yaml")).toMatch(/^0 .*14 rules found/s);
});

test("each alert fires in promtool's test, and no other beside it", ({ skip }) => {
  needPrometheus(skip);
  expect(promtool("test", "rules", "alerts.test.yaml")).toMatch(/^0 /);
  const tests = readFileSync(join(alertsFolder, "alerts.test.yaml"), "utf8");
  for (const { alert } of alerts) expect(tests).toContain(`ALERTS{alertname="${alert}", `);
});

test("each alert has a runbook of five to fifteen lines, and each runbook an alert", () => {
  const named = alerts.map(({ annotations }) => annotations.runbook);
  const there = readdirSync(runbooks).map((file) => `docs/operate/runbooks/${file}`);
  expect(named.toSorted()).toEqual(there.toSorted());
  for (const { alert, annotations } of alerts) {
    const text = readFileSync(join(runbooks, annotations.runbook.replace(/.*\//, "")), "utf8");
    const lines = text.split("\n").filter((line) => line !== "");
    expect(lines.length, alert).toBeGreaterThanOrEqual(5);
    expect(lines.length, alert).toBeLessThanOrEqual(15);
    for (const part of [`\`${alert}\``, "**Means.**", "**See.**", "**Do.**"])
      expect(text).toContain(part);
  }
});

test("the text of each alert names what it is about: the labels that its expression keeps", () => {
  for (const { alert, expr, annotations } of alerts) {
    const kept = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(", ");
    const own = expr.includes("trainyard_agent_") ? ["instance"] : ["service", "instance"];
    const labels = kept ?? (/^(?:sum|max)\(/.test(expr) ? [] : own);
    for (const label of labels) expect(annotations.summary, alert).toContain(`$labels.${label} `);
  }
});

test("the expressions of boards and alerts name metrics and labels that are there", async () => {
  const known = new Map<string, readonly string[]>();
  for (const { registry } of registries().values())
    for (const { name, labels } of await metricsOf(registry)) known.set(name, labels);
  const all = new Set([...known.values()].flat());
  const ofPrometheus = ["service", "instance", "job", "le"];
  for (const { expression } of expressions()) {
    for (const [name = ""] of expression.matchAll(/trainyard_\w+/g))
      expect(known.has(name) || known.has(name.replace(/_(bucket|count|sum)$/, "")), name).toBe(
        true,
      );
    for (const [, labels = ""] of expression.matchAll(/by \(([^)]*)\)/g))
      for (const label of labels.split(", "))
        expect(all.has(label) || ofPrometheus.includes(label), `${expression}: ${label}`).toBe(
          true,
        );
  }
});

/** The metrics that each replica shows alike, so that their sum over replicas is wrong. */
const alike =
  /trainyard_(?:parked_events|view_|read_model_|registry_open_|subscriptions|subscription_lag_)/;

test("a board sums nothing that all replicas show alike, and keeps the method beside a route", () => {
  for (const { of, expression } of expressions()) {
    for (const [summed] of expression.matchAll(/\bsum(?: by \([^)]*\))? ?\(.*/g))
      expect(summed, of).not.toMatch(alike);
    const [, labels = "method"] = /by \(([^)]*\broute\b[^)]*)\)/.exec(expression) ?? [];
    expect(labels, of).toContain("method");
  }
});

/** The units of an expression, by the last part of its metric's name. */
function unitsOf(expr: string): readonly string[] {
  const isRate = expr.includes("rate(");
  if (expr.startsWith("60 * ")) return ["cpm"];
  if (expr.includes("process_cpu_seconds") || expr.includes("_bytes / ")) return ["percentunit"];
  if (expr.includes("_bytes")) return [isRate ? "Bps" : "bytes"];
  if (expr.includes("_seconds_count")) return ["reqps"];
  if (/_seconds\b|_seconds_bucket/.test(expr)) return ["s"];
  return isRate ? ["ops", "reqps"] : ["short"];
}

test("each panel has the unit of its expressions, begins at 0 and names its lines", () => {
  for (const { panels, templating } of boards) {
    if (templating.list[0]?.query !== "prometheus") continue;
    for (const { title, fieldConfig, targets } of panels) {
      const { unit, min } = fieldConfig.defaults;
      expect(min, title).toBe(0);
      expect(title.endsWith("per minute"), title).toBe(unit === "cpm");
      for (const { expr, legendFormat } of targets) {
        expect(legendFormat, title).toMatch(/\S/);
        expect(unitsOf(expr), `${title}: ${expr}`).toContain(unit);
      }
    }
  }
});

test("each board has an id, a source of data to choose, and panels that do not overlap", () => {
  expect(boards.map(({ file }) => file).toSorted()).toEqual([
    ...["cluster.json", "delivery.json", "experiment.json", "searches.json", "storage.json"],
  ]);
  for (const { file, uid, templating, panels } of boards) {
    expect(uid).toMatch(/^trainyard-/);
    const isOfExperiment = file === "experiment.json";
    expect(templating.list.map(({ name }) => name)).toEqual([
      "datasource",
      ...(isOfExperiment ? ["experiment", "group", "metric", "trials"] : []),
    ]);
    expect(templating.list[0]?.query).toBe(
      isOfExperiment ? "yesoreyeram-infinity-datasource" : "prometheus",
    );
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    for (const { datasource } of panels) expect(datasource.uid).toBe("${datasource}");
  }
});
