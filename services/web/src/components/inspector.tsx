import { X } from "lucide-react";
import { Fragment, type JSX, type ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./inspector.module.css";

type Props = {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** The details of the selected object, at the right of the page, so that a selection stays on the page. */
export function Inspector({ title, onClose, children }: Props): JSX.Element {
  return (
    <aside className={styles["inspector"]} aria-label="Inspector">
      <header className={styles["header"]}>
        <h2>{title}</h2>
        <Button look="plain" aria-label="Close the inspector" onClick={onClose}>
          <X size={16} aria-hidden />
        </Button>
      </header>
      <div className={styles["body"]} tabIndex={0}>
        {children}
      </div>
    </aside>
  );
}

/** Long names of metrics and hyperparameters break after an underscore or a dot, never within a word. */
const breakable = (name: string): ReactNode =>
  name.split(/(?<=[_./])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));

type Facts = readonly (readonly [name: string, value: ReactNode])[];

/** Names and values, one pair per line; empty values are left out. */
export function FactList({ facts }: { readonly facts: Facts }): JSX.Element {
  const nothing: readonly ReactNode[] = ["", undefined, null, false];
  const shown = facts.filter(([, value]) => !nothing.includes(value));
  return (
    <dl className={styles["facts"]}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{breakable(name)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
