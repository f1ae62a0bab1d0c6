import { ArrowDown, ArrowUp, Pin } from "lucide-react";
import { type JSX, useState } from "react";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { Field } from "../field.tsx";
import {
  type Column,
  type ColumnChoice,
  type ColumnLayout,
  withMoved,
  withPinned,
  withShare,
  withShown,
} from "./columns.ts";
import styles from "./columns-dialog.module.css";

type Props<Row> = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly columns: readonly Column<Row>[];
  readonly layout: ColumnLayout;
  readonly onLayout: (layout: ColumnLayout) => void;
  /** Returns a typed column that is not offered; null if the text names none. */
  readonly typed?: (text: string) => Column<Row> | null;
  /** The layout that "Reset" returns to. */
  readonly initial: ColumnLayout;
};

/** Chooses the columns, their order and widths, and which are pinned, by keyboard too. */
export function ColumnsDialog<Row>(props: Props<Row>): JSX.Element {
  const { open, onClose, columns, layout, onLayout, initial } = props;
  const [search, setSearch] = useState("");
  const typed = props.typed?.(search) ?? null;
  const offered =
    typed === null ? columns : [typed, ...columns.filter(({ id }) => id !== typed.id)];
  const hidden = offered.filter(
    ({ id, title }) =>
      !layout.some((choice) => choice.id === id) &&
      `${title} ${id}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Columns"
      actions={
        <>
          <Button onClick={() => onLayout(initial)}>Reset</Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <ul className={styles["list"]} aria-label="Shown columns">
        {layout.map((choice) => (
          <Shown key={choice.id} {...props} choice={choice} />
        ))}
      </ul>
      <Field
        label="Add a column"
        placeholder="name of a field, hyperparameter or metric"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul className={styles["list"]} aria-label="Hidden columns">
        {hidden.slice(0, 100).map(({ id, title }) => (
          <li key={id}>
            <label className={styles["name"]}>
              <input
                type="checkbox"
                checked={false}
                onChange={() => onLayout(withShown(layout, id, true))}
              />
              {title}
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Shown<Row>({
  columns,
  layout,
  onLayout,
  choice,
}: Props<Row> & { readonly choice: ColumnChoice }): JSX.Element | null {
  const { id, share, pinned = false } = choice;
  const column = columns.find((one) => one.id === id);
  if (column === undefined) return null;
  const { title } = column;
  return (
    <li>
      <label className={styles["name"]}>
        <input
          type="checkbox"
          checked
          disabled={layout.length === 1}
          onChange={() => onLayout(withShown(layout, id, false))}
        />
        {title}
      </label>
      <select
        className={styles["width"]}
        aria-label={`Width of ${title}`}
        value={share ?? ""}
        onChange={({ target }) =>
          onLayout(withShare(layout, id, target.value === "" ? undefined : Number(target.value)))
        }
      >
        <option value="">automatic</option>
        {sharesWith(share).map((one) => (
          <option key={one} value={one}>
            {Math.round(one / 10)} %
          </option>
        ))}
      </select>
      <Button
        look="plain"
        aria-label={`Pin ${title} to the left`}
        aria-pressed={pinned}
        className={styles["pin"]}
        onClick={() => onLayout(withPinned(layout, id, !pinned))}
      >
        <Pin size={14} aria-hidden />
      </Button>
      <Button
        look="plain"
        aria-label={`Move ${title} up`}
        onClick={() => onLayout(withMoved(layout, id, -1))}
      >
        <ArrowUp size={14} aria-hidden />
      </Button>
      <Button
        look="plain"
        aria-label={`Move ${title} down`}
        onClick={() => onLayout(withMoved(layout, id, 1))}
      >
        <ArrowDown size={14} aria-hidden />
      </Button>
    </li>
  );
}

const shares = [50, 75, 100, 150, 200, 300, 400, 600];

/** The offered shares, with the chosen one, which may be the result of a drag. */
const sharesWith = (share: number | undefined): readonly number[] =>
  share === undefined || shares.includes(share)
    ? shares
    : [...shares, share].toSorted((a, b) => a - b);
