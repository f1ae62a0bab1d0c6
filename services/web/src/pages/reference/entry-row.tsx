import { Link } from "@tanstack/react-router";
import { type JSX, useEffect, useRef } from "react";
import { CodeText } from "../../components/code-text.tsx";
import { CopyButton } from "../../components/empty-state.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import type { Entry } from "./entries.ts";
import styles from "./page.module.css";
import type { Field } from "./schema.ts";
import type { tabIds } from "./search.ts";

type Tab = (typeof tabIds)[number];

type Props = {
  readonly entry: Entry;
  readonly tab: Tab;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
};

/** A line of the page, which opens to what the document says about it. */
export function EntryRow({ entry, tab, isOpen, onOpen }: Props): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  const { badge, title, words } = entry;
  return (
    <div className={styles["entry"]} data-open={isOpen} ref={row}>
      <button type="button" className={styles["head"]} aria-expanded={isOpen} onClick={onOpen}>
        {badge !== "" && <span className={styles["badge"]}>{badge}</span>}
        <code>{title}</code>
        <span className={styles["words"]}>{words}</span>
      </button>
      {isOpen && <Opened entry={entry} tab={tab} />}
    </div>
  );
}

function Opened({ entry, tab }: { readonly entry: Entry; readonly tab: Tab }): JSX.Element {
  const { comment, tables, example, title } = entry;
  return (
    <div className={styles["opened"]}>
      {comment !== "" && <p>{comment}</p>}
      {tables.map(({ caption, fields }) => (
        <PlainTable
          key={caption}
          caption={caption}
          captionShown
          headHidden
          columns={[
            { title: "Field", cell: ({ name }: Field) => <code>{name}</code> },
            { title: "Type", cell: (field) => <TypeText field={field} tab={tab} /> },
            { title: "Comment", cell: ({ comment: text }) => text },
          ]}
          rows={fields}
          keyOf={({ name }) => name}
        />
      ))}
      {example !== "" && (
        <div className={styles["example"]}>
          <CodeText label={`Example of ${title}`} text={example} />
          <CopyButton text={example} label="Copy the example" />
        </div>
      )}
    </div>
  );
}

/** A type, whose message is a link to its entry. */
function TypeText({ field, tab }: { readonly field: Field; readonly tab: Tab }): JSX.Element {
  const { type, message } = field;
  if (message === null) return <span className={styles["type"]}>{type}</span>;
  const search = tab === "events" ? { tab, at: message } : { at: message };
  return (
    <Link to="/reference" search={search} resetScroll={false} className={styles["type"]}>
      {type}
    </Link>
  );
}
