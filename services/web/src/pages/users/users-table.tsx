import type { Plain } from "@trainyard/contracts";
import type { User } from "@trainyard/contracts/api";
import { type JSX, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { age, counted, time } from "../../components/format.ts";
import { type Column, type ColumnLayout, Table } from "../../components/table/index.ts";
import { useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import styles from "./page.module.css";
import { usersRoute } from "./route.ts";
import { type UserAction, UserDialog } from "./user-dialog.tsx";
import { UserMenu } from "./user-menu.tsx";
import { kindText, signInText, stateText } from "./user-text.ts";

type Row = Plain<User>;

/** Columns that a narrow window leaves out, the least important first. */
const giveWay: readonly string[] = ["created", "signIn", "email", "kind", "groups", "display"];

const layoutFor = (isAdmin: boolean): ColumnLayout =>
  ["name", "display", ...(isAdmin ? ["email"] : []), "kind", "state", "groups"]
    .concat("signIn", "created", isAdmin ? ["menu"] : [])
    .map((id) => ({ id }));

export function UsersTable({ isAdmin }: { readonly isAdmin: boolean }): JSX.Element {
  const { prefix = "" } = usersRoute.useSearch();
  const navigate = usersRoute.useNavigate();
  const request = { pageSize: 200, prefix };
  const users = useList("listUsers", request, { keepPrevious: true });
  const rows = users.data?.pages.flatMap(({ items }) => items) ?? [];
  const [asked, setAsked] = useState<UserAction | null>(null);
  return (
    <div className={styles["tab"]}>
      <div className={styles["bar"]}>
        <Field
          label="Name"
          labelHidden
          data-search
          placeholder="Names that begin with (press /)"
          value={prefix}
          onChange={({ target }) =>
            void navigate({
              search: target.value === "" ? {} : { prefix: target.value },
              replace: true,
            })
          }
        />
      </div>
      <Table
        label="Users"
        columns={columnsAt(useNow(), setAsked)}
        layout={layoutFor(isAdmin)}
        giveWay={giveWay}
        rows={rows}
        idOf={({ id }) => id}
        total={users.hasNextPage ? undefined : rows.length}
        onEnd={() => users.hasNextPage && !users.isFetching && void users.fetchNextPage()}
        empty={<EmptyState title="No name begins with it." />}
        pending={users.isPending}
        list={users.isPlaceholderData ? null : prefix}
        error={users.error}
        onRetry={() => void users.refetch()}
        status={
          users.isSuccess && `${counted(rows.length, "user")}${users.hasNextPage ? " or more" : ""}`
        }
      />
      {asked !== null && <UserDialog asked={asked} onClose={() => setAsked(null)} />}
    </div>
  );
}

function columnsAt(nowMs: number, ask: (action: UserAction) => void): readonly Column<Row>[] {
  const text = (id: string, title: string, width: number, of: (row: Row) => string) => ({
    id,
    title,
    width,
    min: Math.round(width * 0.6),
    text: of,
    cell: (row: Row) => <span title={of(row)}>{of(row)}</span>,
  });
  return [
    text("name", "Name", 160, ({ name }) => name),
    text("display", "Display name", 180, ({ displayName }) => displayName),
    text("email", "Address", 200, ({ email }) => email),
    { ...text("kind", "Kind", 130, kindText), min: 124 },
    { ...text("state", "State", 80, stateText), min: 72 },
    text("groups", "Groups", 160, ({ groups }) => groups.join(", ")),
    text("signIn", "Signs in by", 140, signInText),
    {
      ...text("created", "Created", 90, ({ createdAtMs }) => time(createdAtMs)),
      cell: ({ createdAtMs }) => <span title={time(createdAtMs)}>{age(createdAtMs, nowMs)}</span>,
    },
    {
      id: "menu",
      title: "",
      width: 48,
      text: () => "",
      cell: (row) => <UserMenu user={row} onAsk={ask} />,
    },
  ];
}
