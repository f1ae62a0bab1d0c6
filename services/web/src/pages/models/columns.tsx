import { Link } from "@tanstack/react-router";
import type { Plain } from "@trainyard/contracts";
import type { Model } from "@trainyard/contracts/api";
import { age, count, time } from "../../components/format.ts";
import type { Column, ColumnLayout } from "../../components/table/index.ts";

type Row = Plain<Model>;

export const initialLayout: ColumnLayout = [
  { id: "name", pinned: true },
  { id: "latest" },
  { id: "versions" },
  { id: "aliases" },
  { id: "labels" },
  { id: "description" },
  { id: "workspace" },
  { id: "created" },
  { id: "changed" },
];

const aliasesOf = ({ aliases }: Row): string =>
  Object.entries(aliases)
    .map(([alias, number]) => `${alias} → ${number}`)
    .join(", ");

/** The columns of the list; ages are as of `nowMs`. */
export function modelColumns(nowMs: number): readonly Column<Row>[] {
  return [
    {
      id: "name",
      title: "Name",
      width: 220,
      sort: "name",
      cell: ({ name, archived }) => (
        <>
          <Link to="/models/$model" params={{ model: name }} search={{}}>
            {name}
          </Link>
          {archived && " (archived)"}
        </>
      ),
      text: ({ name }) => name,
    },
    {
      id: "latest",
      title: "Latest",
      width: 72,
      right: true,
      cell: ({ latestNumber }) => (latestNumber === 0 ? "" : latestNumber),
      text: ({ latestNumber }) => String(latestNumber),
    },
    {
      id: "versions",
      title: "Versions",
      width: 84,
      right: true,
      sort: "versions",
      cell: ({ versions }) => count(versions),
      text: ({ versions }) => String(versions),
    },
    { id: "aliases", title: "Aliases", width: 220, cell: aliasesOf, text: aliasesOf },
    {
      id: "labels",
      title: "Labels",
      width: 160,
      cell: ({ labels }) => labels.join(", "),
      text: ({ labels }) => labels.join(", "),
    },
    {
      id: "description",
      title: "Description",
      width: 280,
      cell: ({ description }) => description,
      text: ({ description }) => description,
    },
    {
      id: "workspace",
      title: "Workspace",
      width: 120,
      sort: "workspace",
      cell: ({ workspace }) => workspace,
      text: ({ workspace }) => workspace,
    },
    {
      id: "created",
      title: "Created",
      width: 96,
      sort: "created_at",
      cell: ({ createdAtMs }) => <span title={time(createdAtMs)}>{age(createdAtMs, nowMs)}</span>,
      text: ({ createdAtMs }) => time(createdAtMs),
    },
    {
      id: "changed",
      title: "Changed",
      width: 96,
      sort: "changed_at",
      cell: ({ changedAtMs }) => <span title={time(changedAtMs)}>{age(changedAtMs, nowMs)}</span>,
      text: ({ changedAtMs }) => time(changedAtMs),
    },
  ];
}
