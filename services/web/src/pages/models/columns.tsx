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

const plain = (
  id: string,
  title: string,
  width: number,
  text: (model: Row) => string,
): Column<Row> => ({ id, title, width, cell: text, text });

/** The columns of the list; ages are as of `nowMs`. */
export function modelColumns(nowMs: number): readonly Column<Row>[] {
  const aged = (atMs: number) => <span title={time(atMs)}>{age(atMs, nowMs)}</span>;
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
      ...plain("latest", "Latest", 72, (one) =>
        one.latestNumber === 0 ? "" : String(one.latestNumber),
      ),
      right: true,
    },
    {
      ...plain("versions", "Versions", 84, (one) => count(one.versions)),
      right: true,
      sort: "versions",
    },
    plain("aliases", "Aliases", 220, aliasesOf),
    plain("labels", "Labels", 160, ({ labels }) => labels.join(", ")),
    plain("description", "Description", 280, ({ description }) => description),
    { ...plain("workspace", "Workspace", 120, ({ workspace }) => workspace), sort: "workspace" },
    {
      ...plain("created", "Created", 96, ({ createdAtMs }) => time(createdAtMs)),
      sort: "created_at",
      cell: ({ createdAtMs }) => aged(createdAtMs),
    },
    {
      ...plain("changed", "Changed", 96, ({ changedAtMs }) => time(changedAtMs)),
      sort: "changed_at",
      cell: ({ changedAtMs }) => aged(changedAtMs),
    },
  ];
}
