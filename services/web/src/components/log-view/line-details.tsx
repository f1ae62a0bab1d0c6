import { Link2, X } from "lucide-react";
import { type JSX, useState } from "react";
import { Button } from "../button.tsx";
import { fullTime } from "./line-time.ts";
import styles from "./log-view.module.css";
import type { LogLine } from "./source.ts";

type Props = {
  readonly line: LogLine;
  readonly href: string;
  readonly onClose: () => void;
  /** Shows the line among the lines that the conditions hide; absent without conditions. */
  readonly onContext: (() => void) | undefined;
};

/** The details of the chosen line. */
export function LineDetails({ line, href, onClose, onContext }: Props): JSX.Element {
  const [copied, setCopied] = useState("");
  const copy = () =>
    void navigator.clipboard
      .writeText(new URL(href, location.href).href)
      .then(() => setCopied(line.cursor));
  const facts = [
    ["Trial", line.trial],
    ["Run", String(line.run)],
    ["Node", String(line.nodeRank)],
    ["Rank", line.rank === undefined ? "" : String(line.rank)],
    ["Stream", line.source],
    ["Level", line.level],
    ["Own time", fullTime(line.atMs)],
    ["Received", fullTime(line.receivedAtMs)],
  ] as const;
  return (
    <div className={styles["details"]} role="region" aria-label="Chosen line">
      <dl>
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {onContext !== undefined && <Button onClick={onContext}>Show in context</Button>}
      <Button onClick={copy}>
        <Link2 size={14} aria-hidden />
        {copied === line.cursor ? "Copied" : "Copy link"}
      </Button>
      <Button look="plain" aria-label="Close" onClick={onClose}>
        <X size={16} aria-hidden />
      </Button>
    </div>
  );
}
