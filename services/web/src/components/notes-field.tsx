import { type JSX, lazy, Suspense, useState } from "react";
import { LoadingText } from "./skeleton.tsx";
import { Button } from "./button.tsx";
import { TextArea } from "./field.tsx";
import styles from "./notes-field.module.css";

type Props = {
  readonly value: string;
  readonly rows: number;
  readonly onChange: (text: string) => void;
  /** The caller may not edit the notes. */
  readonly fixed?: boolean;
};

const Markdown = lazy(async () => ({
  default: (await import("./markdown/markdown.tsx")).Markdown,
}));

/** Notes in Markdown: rendered until they are edited, and for a preview. Empty notes are edited at once. */
export function NotesField({ value, rows, onChange, fixed = false }: Props): JSX.Element {
  const [isWriting, setIsWriting] = useState(value.trim() === "");
  if (isWriting && !fixed) {
    return (
      <div className={styles["notes"]}>
        <TextArea
          label="Notes"
          hint="Markdown. HTML is shown as it is written."
          rows={rows}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
        <span>
          <Button disabled={value.trim() === ""} onClick={() => setIsWriting(false)}>
            Preview the notes
          </Button>
        </span>
      </div>
    );
  }
  return (
    <section className={styles["notes"]} aria-label="Notes">
      <div className={styles["head"]}>
        <span className={styles["label"]}>Notes</span>
        {!fixed && <Button onClick={() => setIsWriting(true)}>Edit the notes</Button>}
      </div>
      <div className={styles["shown"]}>
        <Suspense fallback={<LoadingText label="the notes" />}>
          {value.trim() === "" ? "There are no notes." : <Markdown text={value} />}
        </Suspense>
      </div>
    </section>
  );
}
