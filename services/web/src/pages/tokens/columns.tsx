import type { Plain } from "@trainyard/contracts";
import type { Token } from "@trainyard/contracts/api";
import { Button } from "../../components/button.tsx";
import { age, time } from "../../components/format.ts";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import styles from "./page.module.css";
import { limitText, tokenState } from "./token-state.ts";

export type Row = Plain<Token>;

/** The columns; tokens are limited only in a cluster with users. */
export const layoutFor = (hasUsers: boolean): ColumnLayout =>
  ["label", "owner", "state", ...(hasUsers ? ["limits"] : [])]
    .concat("used", "created", "expires", "revoke")
    .map((id) => ({ id }));

/** Columns that a narrow window leaves out, the least important first. */
export const giveWay: readonly string[] = ["created", "limits", "owner", "expires", "used"];

const text = (id: string, title: string, width: number, of: (row: Row) => string) => ({
  id,
  title,
  width,
  text: of,
  cell: (row: Row) => <span title={of(row)}>{of(row)}</span>,
});

type Given = {
  readonly nowMs: number;
  /** The id of the token that the caller uses. */
  readonly own: string;
  readonly revoke: (token: Row) => void;
};

export function tokenColumns({ nowMs, own, revoke }: Given): readonly Column<Row>[] {
  const aged = (id: string, title: string, of: (row: Row) => number | undefined): Column<Row> => ({
    ...text(id, title, 100, (row) => time(of(row))),
    cell: (row) => <span title={time(of(row))}>{agedText(of(row), nowMs)}</span>,
  });
  return [
    {
      ...text(
        "label",
        "Label",
        240,
        ({ label, id }) => `${label || id}${id === own ? " (this session)" : ""}`,
      ),
      min: 140,
    },
    text("owner", "Owner", 140, ({ owner }) => owner),
    text("state", "State", 80, (row) => tokenState(row, nowMs)),
    { ...text("limits", "Limited to", 200, limitText), min: 120 },
    aged("used", "Last used", ({ lastUsedAtMs }) => lastUsedAtMs),
    aged("created", "Created", ({ createdAtMs }) => createdAtMs),
    text("expires", "Expires", 170, ({ expiresAtMs }) =>
      expiresAtMs === undefined ? "never" : time(expiresAtMs),
    ),
    {
      ...text("revoke", "", 84, () => ""),
      cell: (row) =>
        tokenState(row, nowMs) === "valid" && (
          <Button look="plain" className={styles["revoke"]} onClick={() => revoke(row)}>
            Revoke
            <span className="visually-hidden"> {row.label || row.id}</span>
          </Button>
        ),
    },
  ];
}

const agedText = (atMs: number | undefined, nowMs: number): string =>
  atMs === undefined ? "never" : age(atMs, nowMs);
