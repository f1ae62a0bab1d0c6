import { yaml } from "@codemirror/lang-yaml";
import { basicSetup, EditorView } from "codemirror";
import { getNonce } from "get-nonce";
import { type JSX, useEffect, useRef } from "react";
import styles from "./code-editor.module.css";

type Props = {
  readonly label: string;
  /** The initial text; `onChange` gets the user's changes. */
  readonly text: string;
  readonly onChange: (text: string) => void;
};

/**
 * A YAML editor, which is focused at first. It is large: load it with React's lazy. Tab leaves it like any field;
 * Escape closes its own panels.
 */
export function CodeEditor({ label, text, onChange }: Props): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const first = useRef({ text, onChange });
  first.current.onChange = onChange;
  useEffect(() => {
    if (place.current === null) return undefined;
    const editor = new EditorView({
      parent: place.current,
      doc: first.current.text,
      extensions: [
        basicSetup,
        yaml(),
        EditorView.lineWrapping,
        EditorView.cspNonce.of(getNonce() ?? ""),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) first.current.onChange(update.state.doc.toString());
        }),
      ],
    });
    editor.focus();
    return () => editor.destroy();
  }, [label]);
  return <div ref={place} className={styles["editor"]} data-own-escape />;
}
