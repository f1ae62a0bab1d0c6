import type { Plain } from "@trainyard/contracts";
import type { Token } from "@trainyard/contracts/api";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { age, counted, time } from "../../components/format.ts";
import { Page } from "../../components/page/page.tsx";
import { type Column, type ColumnLayout, Table } from "../../components/table/index.ts";
import { useSay } from "../../components/toasts.tsx";
import { useCall, useChange, useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { NewToken } from "./new-token.tsx";
import styles from "./page.module.css";
import { tokenState } from "./token-state.ts";

type Row = Plain<Token>;

const layout: ColumnLayout = ["label", "owner", "state", "created", "expires", "revoke"].map(
  (id) => ({ id }),
);

export function TokensPage(): JSX.Element {
  const tokens = useList("listTokens", { pageSize: 200 });
  const session = useCall("getCurrentSession", {});
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const nowMs = useNow();
  const rows = tokens.data?.pages.flatMap(({ items }) => items) ?? [];
  const columns = columnsAt(nowMs, session.data?.token ?? "", setRevoking);
  return (
    <Page
      title="Tokens"
      verbs={[{ title: "New token", run: () => setCreating(true), primary: true }]}
    >
      <Table
        label="Tokens"
        columns={columns}
        layout={layout}
        rows={rows}
        idOf={({ id }) => id}
        total={tokens.hasNextPage ? undefined : rows.length}
        onEnd={() => tokens.hasNextPage && !tokens.isFetching && void tokens.fetchNextPage()}
        empty={<EmptyState title="There is no token." />}
        pending={tokens.isPending}
        error={tokens.error}
        onRetry={() => void tokens.refetch()}
        status={tokens.isSuccess && counted(rows.length, "token")}
      />
      {isCreating && <NewToken onClose={() => setCreating(false)} />}
      {revoking !== null && <Revoke token={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
}

function columnsAt(
  nowMs: number,
  own: string,
  revoke: (token: Row) => void,
): readonly Column<Row>[] {
  const text = (id: string, title: string, width: number, of: (row: Row) => string) => ({
    id,
    title,
    width,
    text: of,
    cell: (row: Row) => <span>{of(row)}</span>,
  });
  return [
    text(
      "label",
      "Label",
      240,
      ({ label, id }) => `${label || id}${id === own ? " (this session)" : ""}`,
    ),
    text("owner", "Owner", 160, ({ owner }) => owner),
    text("state", "State", 100, (row) => tokenState(row, nowMs)),
    {
      ...text("created", "Created", 100, ({ createdAtMs }) => time(createdAtMs)),
      cell: ({ createdAtMs }) => <span title={time(createdAtMs)}>{age(createdAtMs, nowMs)}</span>,
    },
    text("expires", "Expires", 170, ({ expiresAtMs }) =>
      expiresAtMs === undefined ? "never" : time(expiresAtMs),
    ),
    {
      ...text("revoke", "", 100, () => ""),
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

function Revoke({
  token,
  onClose,
}: {
  readonly token: Row;
  readonly onClose: () => void;
}): JSX.Element {
  const say = useSay();
  const change = useChange("revokeToken", ["listTokens"]);
  const name = token.label || token.id;
  const revoke = (): void =>
    change.mutate(
      { request: { token: token.id } },
      {
        onSuccess: () => {
          say.done(`The token ${name} is revoked.`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Revoke ${name}?`}
      description="Programs and sessions that use the token are refused, and so are those of the tokens that were created with it. This cannot be undone."
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" onClick={revoke} disabled={change.isPending}>
            Revoke
          </Button>
        </>
      }
    >
      {change.error !== null && <ErrorNote error={change.error} />}
    </Dialog>
  );
}
