import type { JSX } from "react";
import { Command } from "../../components/empty-state.tsx";
import styles from "./trial.module.css";

/** How to view the TensorBoard files of a trial, and to download them. */
export function TensorBoard({ trial }: { readonly trial: string }): JSX.Element {
  return (
    <div className={styles["tensorboard"]}>
      <Command text={`tensorboard --logdir "$(yard trial tensorboard ${trial})"`} />
      <p className={styles["muted"]}>
        <a href={`/api/v1/trials/${trial}/tensorboard`} download>
          Download the files
        </a>
        , if its script has written some with <code>ctx.tensorboard</code>.
      </p>
    </div>
  );
}
