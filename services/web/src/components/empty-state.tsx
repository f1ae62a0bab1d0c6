import { Check, Copy } from "lucide-react";
import { type JSX, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import styles from "./empty-state.module.css";

type Props = {
  /** A sentence that names the missing objects. */
  readonly title: string;
  /** The reason, or what would be shown here. */
  readonly children?: ReactNode;
  /** The command that creates such an object. */
  readonly command?: string;
};

export function EmptyState({ title, children, command }: Props): JSX.Element {
  return (
    <div className={styles["empty"]}>
      <p className={styles["title"]}>{title}</p>
      {children !== undefined && <div className={styles["text"]}>{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  );
}

/** A command line with a button that copies it. */
export function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <div className={styles["command"]}>
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}

/** Copies a text to the clipboard. */
export function CopyButton(props: { readonly text: string; readonly label: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(props.text).then(() => setCopied(true));
  const label = copied ? "Copied" : props.label;
  return (
    <Button look="plain" onClick={copy} aria-label={label} title={label}>
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </Button>
  );
}
