import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { FactList } from "../../components/inspector.tsx";
import { Page } from "../../components/page/page.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { useSignOut } from "../../components/use-sign-out.ts";
import { type Me, useMe } from "../../data/me.ts";
import { AboutForm } from "./about-form.tsx";
import styles from "./page.module.css";
import { PasswordForm } from "./password-form.tsx";
import { SignIns } from "./sign-ins.tsx";

/** The signed-in user: who it is, what it may do, and its password. */
export function AccountPage(): JSX.Element {
  const me = useMe();
  const signOut = useSignOut();
  return (
    <Page title="Account" verbs={[{ title: "Sign out", run: signOut }]}>
      <div className={styles["page"]}>
        {me.error !== null && <ErrorNote error={me.error} onRetry={() => void me.refetch()} />}
        {me.isPending && <LoadingText label="the account" />}
        {me.data !== undefined &&
          (me.data.user === undefined ? <NoUsers /> : <Account me={me.data} user={me.data.user} />)}
      </div>
    </Page>
  );
}

function NoUsers(): JSX.Element {
  return (
    <EmptyState title="This cluster has no users.">
      Each token may do everything. The page <PathLink to="/users">Users</PathLink> says how to
      begin.
    </EmptyState>
  );
}

type Props = { readonly me: Me; readonly user: ReplyOf<"getUser"> };

function Account({ me, user }: Props): JSX.Element {
  const isPerson = user.kind === "person";
  return (
    <>
      <section className={styles["part"]}>
        <FactList
          facts={[
            ["Name", user.name],
            ["Kind", isPerson ? "" : "service account"],
            ["Groups", ["everyone", ...user.groups].join(", ")],
            ["Token", me.token === "" ? "" : `this session is that of the token ${me.token}`],
          ]}
        />
      </section>
      <section className={styles["part"]} aria-labelledby="roles">
        <h2 id="roles">Roles</h2>
        <Roles me={me} />
      </section>
      <AboutForm user={user} />
      {isPerson && <SignIns user={user} />}
      {isPerson && user.hasPassword && <PasswordForm name={user.name} />}
    </>
  );
}

function Roles({ me }: { readonly me: Me }): JSX.Element {
  if (me.roles.length === 0) {
    return <p className={styles["none"]}>You have no role. An admin of a workspace gives one.</p>;
  }
  return (
    <PlainTable
      caption="Roles"
      columns={[
        { title: "Role", cell: ({ role }) => role },
        { title: "Where", cell: ({ workspace }) => workspace || "everywhere" },
        { title: "By", cell: ({ group }) => (group === "" ? "" : `the group ${group}`) },
      ]}
      rows={me.roles}
      keyOf={({ role, workspace, group }) => JSON.stringify([role, workspace, group])}
    />
  );
}
