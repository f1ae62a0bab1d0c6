import type { Plain } from "@trainyard/contracts";
import type { Group } from "@trainyard/contracts/api";
import { everyone } from "@trainyard/access";
import { type JSX, useState } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall } from "../../data/calls.ts";
import { ConfirmDelete } from "./confirm-delete.tsx";
import { GroupDialog } from "./group-dialog.tsx";
import { NameMenu } from "./name-menu.tsx";
import styles from "./page.module.css";

type Row = Plain<Group>;
type Opened = { readonly kind: "edit" | "delete"; readonly id: string };

export function GroupsTab({ isAdmin }: { readonly isAdmin: boolean }): JSX.Element {
  const groups = useCall("listGroups", {}, { fresh: true });
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = (): void => setOpened(null);
  const group = groups.data?.items.find(({ id }) => id === opened?.id);
  return (
    <div className={styles["lists"]}>
      {groups.error !== null && <ErrorNote error={groups.error} />}
      {groups.isPending && <LoadingText label="the groups" />}
      {groups.data !== undefined && (
        <PlainTable
          caption="Groups"
          columns={[
            { title: "Group", cell: ({ name }) => name },
            { title: "Members", cell: (row) => <Members group={row} /> },
            ...(isAdmin
              ? [{ title: "Change", cell: (row: Row) => <Verbs group={row} onOpen={setOpened} /> }]
              : []),
          ]}
          rows={groups.data.items}
          keyOf={({ id }) => id}
        />
      )}
      {group !== undefined && opened?.kind === "edit" && (
        <GroupDialog group={group} onClose={close} />
      )}
      {group !== undefined && opened?.kind === "delete" && (
        <ConfirmDelete
          what="group"
          name={group.name}
          means="Its members lose the roles that the group has. They stay users."
          onClose={close}
        />
      )}
    </div>
  );
}

function Members({ group }: { readonly group: Row }): JSX.Element {
  const { id, members, fromClaim } = group;
  if (id === everyone) return <span className={styles["muted"]}>all users</span>;
  return (
    <>
      {members.length === 0 ? <span className={styles["muted"]}>nobody</span> : members.join(", ")}
      {fromClaim && <span className={styles["muted"]}> (from the identity provider)</span>}
    </>
  );
}

function Verbs(props: {
  readonly group: Row;
  readonly onOpen: (opened: Opened) => void;
}): JSX.Element | null {
  const { id, name } = props.group;
  if (id === everyone) return null;
  return (
    <NameMenu
      name={name}
      onEdit={() => props.onOpen({ kind: "edit", id })}
      onDelete={() => props.onOpen({ kind: "delete", id })}
    />
  );
}
