/**
 * Makes the requests of the board deploy/grafana/experiment.json as Grafana and its plugin Infinity make them, with the
 * settings that docs/integrate/grafana.md prints, and reads the answers by the board's selectors, which are programs of
 * jq. Grafana itself does not run here.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { absent, missingPrograms, notRun, type Skip } from "@trainyard/testing/needs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../../scripts/lib/root.ts";
import { world } from "./cluster.ts";

type Query = {
  readonly url: string;
  readonly url_options: { readonly params: readonly { readonly key: string; value: string }[] };
  readonly parser: string;
  readonly root_selector: string;
  readonly columns: readonly { readonly selector: string; readonly text: string }[];
};
type Board = {
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly query: string | { readonly infinityQuery: Query };
    }[];
  };
  readonly panels: readonly { readonly title: string; readonly targets: readonly Query[] }[];
};
type Settings = {
  readonly datasources: readonly {
    readonly type: string;
    readonly url: string;
    readonly jsonData: { readonly auth_method: string; readonly allowedHosts: readonly string[] };
    readonly secureJsonData: { readonly bearerToken: string };
  }[];
};
type Row = Readonly<Record<string, unknown>>;

const file = join(root, "deploy/grafana/experiment.json");
const board = JSON.parse(readFileSync(file, "utf8")) as Board;

/** Returns the address and the headers of the requests, from the settings of the page. */
function source() {
  const page = readFileSync(join(root, "docs/integrate/grafana.md"), "utf8");
  const [, text = ""] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const { api, token } = world.access;
  const set = text.replaceAll("$TRAINYARD_URL", api).replaceAll("$TRAINYARD_TOKEN", token);
  const [one] = (parse(set) as Settings).datasources;
  expect(one?.type).toBe(board.templating.list[0]?.query);
  expect(one?.jsonData).toEqual({ auth_method: "bearerToken", allowedHosts: [one?.url] });
  const headers = { authorization: `Bearer ${one?.secureJsonData.bearerToken}` };
  return { url: one?.url ?? "", headers };
}

/** Without jq the test is skipped, or fails with TRAINYARD_REQUIRE=jq. */
function needJq(skip: Skip): void {
  if (missingPrograms("jq").length > 0) notRun(skip, absent("jq", "jq, from the distribution"));
}

/** Returns the text with the values of the board's variables. */
function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{(\w+)(?::raw)?\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the board has no variable ${name}`);
    return value;
  });
}

/** Returns the rows of a query. */
async function rowsOf(query: Query, values: ReadonlyMap<string, string>): Promise<readonly Row[]> {
  expect(query.parser).toBe("jq-backend");
  const { url: base, headers } = source();
  const url = new URL(`${base}${filled(query.url, values)}`);
  for (const { key, value } of query.url_options.params)
    url.searchParams.append(key, filled(value, values));
  const answer = await fetch(url, { headers });
  const input = await answer.text();
  expect(answer.status, `${url}: ${input}`).toBe(200);
  const said = execFileSync("jq", ["-c", `[${query.root_selector}]`], { input, encoding: "utf8" });
  const results = JSON.parse(said) as readonly (Row | readonly Row[])[];
  // The plugin takes one list as the rows, and otherwise the results.
  const rows = (results.length === 1 ? results : [results]).flat(2) as readonly Row[];
  for (const { selector, text } of query.columns) {
    expect(text).toBe(selector);
    for (const row of rows) expect(Object.keys(row)).toContain(selector);
  }
  return rows;
}

const config = `
name: on-the-board
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 2 }
environment: { environment_variables: ["STEPS=4"] }
`;

test("the requests of the board of an experiment are answered with the fields that its selectors name", async ({
  skip,
}) => {
  needJq(skip);
  const started = Date.now();
  const experiment = await world.submit(config, world.code("curves"));
  expect(await world.end(experiment)).toBe("COMPLETED");
  const times = [["__from", String(started)] as const, ["__to", String(Date.now())] as const];
  const values = new Map<string, string>(times);
  const options = new Map<string, readonly unknown[]>();
  for (const { name, query } of board.templating.list) {
    const rows = typeof query === "string" ? [] : await rowsOf(query.infinityQuery, values);
    const [first = ""] = typeof query === "string" ? query.split(",") : [];
    options.set(name, rows);
    values.set(name, name === "experiment" ? experiment : String(rows[0]?.["__value"] ?? first));
  }
  const of = (number: number) => `${experiment}.${number}`;
  expect(options.get("experiment")).toContainEqual({
    __text: `${experiment} on-the-board`,
    __value: experiment,
  });
  expect(options.get("metric")).toEqual([{ __text: "loss", __value: "loss" }]);
  const named = values.get("trials")?.split("&").toSorted();
  expect(named).toEqual([`trials=${of(1)}`, `trials=${of(2)}`]);

  const panels = new Map<string, readonly Row[]>();
  for (const { title, targets } of board.panels)
    for (const target of targets) panels.set(title, await rowsOf(target, values));
  const value: unknown = expect.any(Number);
  expect(panels.get("Experiment")).toMatchObject([
    { name: "on-the-board", phase: "completed", progress: 1, trials: 2, best: value },
  ]);
  const trials = panels
    .get("Trials")
    ?.toSorted((one, other) => String(one["trial"]).localeCompare(String(other["trial"])));
  expect(trials).toMatchObject([
    { trial: of(1), phase: "completed", step: 4, best: value },
    { trial: of(2), phase: "completed", step: 4, best: value },
  ]);
  expect(panels.get("${metric:raw} by step")).toEqual(
    [1, 2, 3, 4].map((step) => ({ step, [of(1)]: value, [of(2)]: value })),
  );
  const byTime = panels.get("${metric:raw} by time") ?? [];
  expect(new Set(byTime.map(({ trial }) => trial))).toEqual(new Set([of(1), of(2)]));
  const at = byTime.map(({ time }) => Number(time));
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(at[0]).toBeGreaterThanOrEqual(started);
});
