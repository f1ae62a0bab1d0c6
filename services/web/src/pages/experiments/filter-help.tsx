import type { JSX } from "react";
import { Dialog } from "../../components/dialog.tsx";
import styles from "./page.module.css";

const language: readonly (readonly [write: string, finds: string])[] = [
  ["resnet large", "a name, description, label or id with words that begin like these"],
  ["state = ERROR", "this value; ACTIVE, PAUSED, COMPLETED, CANCELED, ERROR"],
  ["best_value < 0.2", "a number in this range; also <=, >, >=, !="],
  ["created_at > -7d", "a time in this range: an ISO date, or s, m, h, d, w before now"],
  ["name : resnet", "text that begins with this"],
  ["ended_at : *", "any value at all"],
  ["label = prod", "this label"],
  ["hparams.optimizer.lr = 0.1", "a hyperparameter: a constant, or the best trial's"],
  ['metrics."top 1" > 0.9', "the best value of the metric; names with spaces in quotes"],
  ["A and B, A or B, not A, ( )", "and binds tighter than or; a space is and"],
];

const fields =
  "id, name, state, owner, workspace, project, searcher, metric, parent, archived, created_at, ended_at, progress, trials, trials_completed, trials_failed, best_value, best_trial";

export function FilterHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Filters"
      description="The same as on the command line: yard experiment list --filter '…'"
    >
      <dl className={styles["language"]}>
        {language.map(([write, finds]) => (
          <div key={write}>
            <dt>
              <code>{write}</code>
            </dt>
            <dd>{finds}</dd>
          </div>
        ))}
      </dl>
      <p>
        Fields: <code>{fields}</code>
      </p>
    </Dialog>
  );
}
