import type { Plain } from "@trainyard/contracts";
import type { Role } from "@trainyard/contracts/api";
import { type JSX, useState } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { Grants } from "../../components/grants/grants.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall } from "../../data/calls.ts";
import { ConfirmDelete } from "./confirm-delete.tsx";
import { NameMenu } from "./name-menu.tsx";
import styles from "./page.module.css";
import { RoleDialog } from "./role-dialog.tsx";

type Row = Plain<Role>;
type Opened = { readonly kind: "edit" | "delete"; readonly role: Row };

/** The roles with their permissions, and for admins who has one everywhere. */
export function RolesTab({ isAdmin }: { readonly isAdmin: boolean }): JSX.Element {
  const roles = useCall("listRoles", {}, { fresh: true });
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = (): void => setOpened(null);
  return (
    <div className={styles["lists"]}>
      {isAdmin && (
        <section className={styles["part"]} aria-labelledby="everywhere">
          <h2 id="everywhere">Given everywhere</h2>
          <p className={styles["muted"]}>
            In a single workspace roles are given at its place in the tree of the page Experiments:
            Members.
          </p>
          <Grants workspace="" mayChange />
        </section>
      )}
      <section className={styles["part"]} aria-labelledby="defined">
        <h2 id="defined">Roles</h2>
        {roles.error !== null && <ErrorNote error={roles.error} />}
        {roles.isPending && <LoadingText label="the roles" />}
        {roles.data !== undefined && (
          <PlainTable
            caption="Roles"
            columns={[
              { title: "Role", cell: ({ name }) => name },
              { title: "Permissions", cell: (role) => <Permissions role={role} /> },
              ...(isAdmin
                ? [
                    {
                      title: "Change",
                      cell: (role: Row) => <Verbs role={role} onOpen={setOpened} />,
                    },
                  ]
                : []),
            ]}
            rows={roles.data.items}
            keyOf={({ id }) => id}
          />
        )}
      </section>
      {opened?.kind === "edit" && <RoleDialog role={opened.role} onClose={close} />}
      {opened?.kind === "delete" && (
        <ConfirmDelete
          what="role"
          name={opened.role.name}
          means="It is taken from all who have it, and tokens that are limited to it may do nothing."
          onClose={close}
        />
      )}
    </div>
  );
}

function Permissions({ role }: { readonly role: Row }): JSX.Element {
  return (
    <>
      {role.description !== "" && <p>{role.description}</p>}
      <code className={styles["muted"]}>{role.permissions.join(", ")}</code>
    </>
  );
}

function Verbs(props: {
  readonly role: Row;
  readonly onOpen: (opened: Opened) => void;
}): JSX.Element | null {
  const { role, onOpen } = props;
  if (role.builtIn) return null;
  return (
    <NameMenu
      name={role.name}
      onEdit={() => onOpen({ kind: "edit", role })}
      onDelete={() => onOpen({ kind: "delete", role })}
    />
  );
}
