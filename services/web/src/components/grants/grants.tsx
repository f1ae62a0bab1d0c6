/** The roles that were given in one place, a workspace or the whole cluster, and the form that gives one. */
import type { Plain } from "@trainyard/contracts";
import type { Grant } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { useCall, useChange } from "../../data/calls.ts";
import { Button } from "../button.tsx";
import { ErrorNote } from "../error-note.tsx";
import { PlainTable } from "../plain-table.tsx";
import { SkeletonRows } from "../skeleton.tsx";
import { useSay } from "../toasts.tsx";
import { GiveRole } from "./give-role.tsx";
import styles from "./grants.module.css";

type Row = Plain<Grant>;

type Props = {
  /** The name of the workspace; empty for roles everywhere. */
  readonly workspace: string;
  /** The caller may give and take roles here. */
  readonly mayChange: boolean;
};

export function Grants({ workspace, mayChange }: Props): JSX.Element {
  const grants = useCall("listGrants", { workspace }, { fresh: true });
  const rows = (grants.data?.items ?? []).filter((one) => one.workspace === workspace);
  const place = workspace === "" ? "everywhere" : `in ${workspace}`;
  return (
    <div className={styles["grants"]}>
      {grants.error !== null && <ErrorNote error={grants.error} />}
      {grants.isPending && <SkeletonRows rows={3} height={28} />}
      {grants.isSuccess && rows.length === 0 && (
        <p className={styles["none"]}>Nobody has a role {place}.</p>
      )}
      {rows.length > 0 && (
        <PlainTable
          caption={`Roles ${place}`}
          columns={[
            { title: "Who", cell: (row) => holderText(row) },
            { title: "Role", cell: ({ role }) => role },
            ...(mayChange ? [{ title: "Change", cell: (row: Row) => <Take grant={row} /> }] : []),
          ]}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {mayChange && <GiveRole workspace={workspace} />}
    </div>
  );
}

const holderText = ({ user, group }: Row): string => (group === "" ? user : `group ${group}`);

function Take({ grant }: { readonly grant: Row }): JSX.Element {
  const say = useSay();
  const take = useChange("takeRole", ["listGrants", "getMe"]);
  const run = (): void => {
    // A promise is needed: callbacks of `mutate` are dropped once the row of this button is gone.
    void take
      .mutateAsync({ request: { grant: grant.id } })
      .then(() => say.done(`${holderText(grant)} has the role ${grant.role} no more.`), say.failed);
  };
  return (
    <Button look="plain" className={styles["take"]} disabled={take.isPending} onClick={run}>
      Take
      <span className="visually-hidden">
        {" "}
        the role {grant.role} from {holderText(grant)}
      </span>
    </Button>
  );
}
