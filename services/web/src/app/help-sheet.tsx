import type { JSX } from "react";
import { Dialog } from "../components/dialog.tsx";
import styles from "./help-sheet.module.css";
import { usePlaces } from "./use-places.ts";

type Line = readonly [keys: string, does: string];

const first: Line = ["Ctrl K, ⌘ K", "go to or do anything by its name"];
const further: readonly Line[] = [
  ["/", "to the filter or the search of the page"],
  ["j, k, ↓, ↑", "to the next or the previous row of the list"],
  ["x, Space", "select the row; with Shift all up to it"],
  ["Enter", "open the row"],
  ["Esc", "close what is open, or leave a field"],
  ["Shift F6", "out of a terminal, whose program gets every other key"],
  ["?", "this sheet"],
];

export function HelpSheet({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const jumps = usePlaces().map(({ key, title }): Line => [`g ${key}`, `go to ${title}`]);
  const keys = [first, ...jumps, ...further];
  return (
    <Dialog open onClose={onClose} title="Keys">
      <dl className={styles["keys"]}>
        {keys.map(([pressed, does]) => (
          <div key={pressed}>
            <dt>
              <kbd>{pressed}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
