import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Command, EmptyState } from "../../components/empty-state.tsx";
import styles from "./page.module.css";

/** A cluster whose tokens may do everything: what happens when its first user is created. */
export function NoUsers({ onCreate }: { readonly onCreate: () => void }): JSX.Element {
  return (
    <>
      <EmptyState title="This cluster has no users: each token may do everything.">
        The first person who is created becomes its admin, and from then on people sign in. The
        tokens of today keep working: they become those of the service account <code>local</code>,
        an admin that can be disabled. Everybody who comes later works in the workspace{" "}
        <code>default</code> until an admin changes it.
      </EmptyState>
      <div className={styles["begin"]}>
        <Button onClick={onCreate}>Create the first user</Button>
        <Command text="yard user create NAME" />
      </div>
    </>
  );
}
