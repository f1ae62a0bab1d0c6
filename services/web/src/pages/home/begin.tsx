import type { JSX } from "react";
import { Command } from "../../components/empty-state.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { useCall } from "../../data/calls.ts";
import styles from "./page.module.css";

/** Whether the cluster has had neither an experiment nor a task; undefined until that is known. */
export function useIsUnused(): boolean | undefined {
  const experiments = useCall(
    "listExperiments",
    { pageSize: 1, archived: true },
    { watch: { kind: "experiments", archived: true }, follow: true },
  );
  const tasks = useCall("listTasks", { pageSize: 1 }, { watch: { kind: "tasks" }, follow: true });
  if (experiments.isPending || tasks.isPending) return undefined;
  return experiments.data?.items.length === 0 && tasks.data?.items.length === 0;
}

/** How to begin: the commands that lead from nothing to a first experiment. */
export function Begin(): JSX.Element {
  return (
    <section className={styles["part"]} aria-label="Begin">
      <div className={styles["head"]}>
        <h2>Run your first experiment</h2>
      </div>
      <p className={styles["none"]}>
        In a checkout of Trainyard the command <code>yard</code> is <code>bin/yard</code>.
      </p>
      <ol className={styles["begin"]}>
        <li>
          <p>
            Sign in with the command line. It asks for a token:{" "}
            <PathLink to="/tokens">create one</PathLink>.
          </p>
          <Command text={`yard login ${location.origin}`} />
        </li>
        <li>
          <p>Submit the search of the example iris, which takes about a minute.</p>
          <Command text="yard experiment create examples/iris/search.yaml examples/iris" />
        </li>
        <li>
          <p>Follow it here, or in the terminal.</p>
          <Command text="yard experiment list" />
        </li>
      </ol>
    </section>
  );
}
