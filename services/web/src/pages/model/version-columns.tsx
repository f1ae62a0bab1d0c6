import { Link } from "@tanstack/react-router";
import type { Plain } from "@trainyard/contracts";
import type { ModelVersion } from "@trainyard/contracts/api";
import { age, count, number, time } from "../../components/format.ts";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import { own } from "../../data/own.ts";

export type Version = Plain<ModelVersion>;

export const versionLayout: ColumnLayout = [
  { id: "number", pinned: true },
  { id: "semantic" },
  { id: "aliases" },
  { id: "metric" },
  { id: "step" },
  { id: "source" },
  { id: "labels" },
  { id: "by" },
  { id: "registered" },
];

/** Returns "loss 0.123" for the metric that its experiment searched by; empty for a folder. */
export function searchedMetric({ metrics, searcherMetric }: Version): string {
  const value = own(metrics, searcherMetric);
  return value === undefined ? "" : `${searcherMetric} ${number(value)}`;
}

/** The trial, the task whose save it is, or the person who uploaded the folder. */
export function Source({ version }: { readonly version: Version }) {
  if (version.task !== undefined) return <>save of {version.task}</>;
  if (version.trial === "") return <>folder of {version.uploadedBy}</>;
  return (
    <Link to="/trials/$trial" params={{ trial: version.trial }} search={{}}>
      {version.trial}
    </Link>
  );
}

/** The columns of a model's versions; ages are as of `nowMs`. */
export function versionColumns(nowMs: number): readonly Column<Version>[] {
  const plain = (
    id: string,
    title: string,
    width: number,
    text: (version: Version) => string,
  ): Column<Version> => ({ id, title, width, cell: text, text });
  return [
    {
      ...plain("number", "Version", 96, (one) => String(one.number)),
      cell: (one) => `${one.number}${one.state === "REMOVED" ? " (removed)" : ""}`,
      mono: true,
    },
    plain("semantic", "Semantic version", 132, ({ semanticVersion }) => semanticVersion),
    plain("aliases", "Aliases", 160, ({ aliases }) => aliases.join(", ")),
    { ...plain("metric", "Metric", 232, searchedMetric), mono: true },
    { ...plain("step", "Step", 96, (one) => count(one.stepsCompleted)), right: true },
    {
      ...plain("source", "Trial", 120, ({ trial }) => trial),
      cell: (version) => <Source version={version} />,
    },
    plain("labels", "Labels", 140, ({ labels }) => labels.join(", ")),
    plain("by", "Registered by", 120, ({ registeredBy }) => registeredBy),
    {
      ...plain("registered", "Registered", 100, (one) => time(one.registeredAtMs)),
      cell: ({ registeredAtMs: atMs }) => <span title={time(atMs)}>{age(atMs, nowMs)}</span>,
    },
  ];
}
