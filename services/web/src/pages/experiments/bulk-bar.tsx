import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import { noSelection, type Selection } from "../../components/table/index.ts";
import { useMayOnAny } from "../../data/may.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { CompareMenu } from "./compare-menu.tsx";
import { LabelDialog } from "./label-dialog.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import type { Row } from "./columns.tsx";
import { type Action, actions, experiments } from "./outcomes.ts";
import styles from "./page.module.css";

type Props = {
  readonly selection: Selection;
  /** The loaded rows. */
  readonly rows: readonly Row[];
  readonly onSelect: (selection: Selection) => void;
};

/** The actions on the selected experiments. */
export function BulkBar({ selection, rows, onSelect }: Props): JSX.Element | null {
  const [asked, setAsked] = useState<Action | "move" | "label" | null>(null);
  const ids = [...selection];
  const close = (): void => setAsked(null);
  const labelItem = { title: "Add or remove labels", onSelect: () => setAsked("label") };
  const moveItem = { title: "Move to a project", onSelect: () => setAsked("move") };
  const done = (): void => {
    close();
    onSelect(noSelection);
  };
  const may = useMayOnAny(rows.filter(({ id }) => selection.has(id)));
  if (ids.length === 0) return null;
  const [first, second, ...rest] = may("actOnExperiments") ? actions : [];
  return (
    <div className={styles["bulk"]} role="group" aria-label="Selected experiments">
      <span role="status">{experiments(ids.length)} selected</span>
      {[first, second].map(
        (action) =>
          action !== undefined && (
            <Button key={action.verb} onClick={() => setAsked(action)}>
              {action.title}
            </Button>
          ),
      )}
      <CompareMenu ids={ids} />
      {may("labelExperiments") && (
        <Menu
          trigger={<Button>More</Button>}
          groups={[
            [
              ...rest.filter(({ danger }) => !danger).map((action) => itemOf(action, setAsked)),
              ...(may("labelExperiments") ? [labelItem] : []),
              ...(may("moveExperiments") ? [moveItem] : []),
            ],
            rest.filter(({ danger }) => danger).map((action) => itemOf(action, setAsked)),
          ]}
        />
      )}
      <Button look="plain" onClick={() => onSelect(noSelection)}>
        Clear
      </Button>
      {asked === "move" && <MoveDialog ids={ids} onClose={close} onDone={done} />}
      {asked === "label" && (
        <LabelDialog ids={ids} labels={labelsIn(rows, selection)} onClose={close} onDone={done} />
      )}
      {asked !== null && typeof asked !== "string" && (
        <ActionDialog action={asked} ids={ids} onClose={close} onDone={done} />
      )}
    </div>
  );
}

const labelsIn = (rows: readonly Row[], selection: Selection): readonly string[] => {
  const selected = rows.filter(({ id }) => selection.has(id));
  return [...new Set(selected.flatMap(({ labels }) => labels))].toSorted();
};

const itemOf = (action: Action, ask: (action: Action) => void) => ({
  title: action.title,
  danger: action.danger,
  onSelect: () => ask(action),
});
