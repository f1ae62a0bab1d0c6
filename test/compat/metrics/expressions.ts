/** The alerts of deploy/prometheus, the boards of deploy/grafana, and the expressions of both. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const deploy = join(import.meta.dirname, "../../../deploy");

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string; readonly summary: string };
};

type Panel = {
  readonly id: number;
  readonly title: string;
  readonly datasource: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string; readonly min?: number } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
};

type Board = {
  readonly file: string;
  readonly uid: string;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query?: unknown }[];
  };
  readonly panels: readonly Panel[];
};

type Rules = { readonly groups: readonly { readonly rules: readonly Alert[] }[] };

const rules = parse(readFileSync(join(deploy, "prometheus", "alerts.yaml"), "utf8")) as Rules;

export const alerts: readonly Alert[] = rules.groups.flatMap((group) => group.rules);

export const boards: readonly Board[] = readdirSync(join(deploy, "grafana")).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(deploy, "grafana", file), "utf8")) as Omit<Board, "file">),
}));

/** Returns the expressions with their places. Those of alerts are without limits, so that they always have data. */
export function expressions(): readonly { readonly of: string; readonly expression: string }[] {
  const ofAlerts = alerts.flatMap(({ alert, expr }) =>
    expr.split(/\s+or\s+/).map((part) => ({
      of: alert,
      expression: part.replace(/ (?:==|>|<) [\d.]+\s*$/, ""),
    })),
  );
  const ofPrometheus = boards.filter(({ templating: { list } }) => list[0]?.query === "prometheus");
  const ofBoards = ofPrometheus.flatMap(({ uid, panels }) =>
    panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ of: `${uid}: ${title}`, expression: expr })),
    ),
  );
  return [...ofAlerts, ...ofBoards];
}
