import { yaml } from "@codemirror/lang-yaml";
import { basicSetup, EditorView } from "codemirror";
import { getNonce } from "get-nonce";
import { type JSX, useEffect, useRef } from "react";
import styles from "./code-editor.module.css";

type Props = {
  readonly label: string;
  /** The text; `onChange` gets the user's changes. */
  readonly text: string;
  readonly onChange: (text: string) => void;
};

/** The parts of the editor that Escape closes: the search, and completions. */
const closedByEscape = ".cm-panel, .cm-tooltip";

/** A YAML editor. It is large: load it with React's lazy. Tab leaves it like any field. */
export function CodeEditor({ label, text, onChange }: Props): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  useEffect(() => {
    if (place.current === null) return undefined;
    const editor = new EditorView({
      parent: place.current,
      doc: latest.current.text,
      extensions: [
        basicSetup,
        yaml(),
        EditorView.lineWrapping,
        EditorView.cspNonce.of(getNonce() ?? ""),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          const now = update.state.doc.toString();
          if (update.docChanged && now !== latest.current.text) latest.current.onChange(now);
        }),
      ],
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const change = changeTo(editor.state.doc.toString(), text);
    if (change !== null) editor.dispatch({ changes: change });
  }, [text]);
  return <div ref={place} className={styles["editor"]} data-own-escape={closedByEscape} />;
}

/** Returns the replaced part, so that the cursor and the undo history outside of it stay; null for equal texts. */
function changeTo(before: string, after: string) {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return {
    from: start,
    to: before.length - end,
    insert: after.slice(start, after.length - end),
  };
}
