import { X } from "lucide-react";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import type { Answer } from "./comparison.ts";
import styles from "./compare.module.css";
import { withoutGone } from "./sources.ts";

type GoneProps = {
  readonly gone: Answer["gone"];
  readonly sources: readonly string[];
  /** The trials that are compared. */
  readonly present: readonly string[];
  readonly onSources: (sources: readonly string[]) => void;
};

type SourcesProps = Pick<GoneProps, "sources" | "onSources">;

const namedMax = 3;

/** Says which parts of the link name nothing, for example a trial that was deleted meanwhile. */
export function GoneNote({ gone, sources, present, onSources }: GoneProps): JSX.Element | null {
  if (gone.length === 0) return null;
  const reasons = gone.slice(0, namedMax).map(({ reason }) => sentence(reason));
  const more = gone.length - reasons.length;
  return (
    <p className={styles["note"]} role="status">
      {reasons.join(" ")} {more > 0 && `${more} more are missing. `}
      <Button
        look="link"
        onClick={() =>
          onSources(
            withoutGone(
              sources,
              present,
              gone.map(({ source }) => source),
            ),
          )
        }
      >
        Leave {gone.length === 1 ? "it" : "them"} out of the link
      </Button>
    </p>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** The parts of a link that the server refuses, each with a button that leaves it out. */
export function SourceList({ sources, onSources }: SourcesProps): JSX.Element {
  return (
    <>
      <p className={styles["note"]}>Leave out what the sentence names, or what you need less:</p>
      <Sources {...{ sources, onSources }} />
    </>
  );
}

function Sources({ sources, onSources }: SourcesProps): JSX.Element {
  return (
    <ul className={styles["sources"]} aria-label="Compared">
      {sources.map((source) => (
        <li key={source}>
          {source}
          <Button
            look="plain"
            aria-label={`Leave out ${source}`}
            onClick={() => onSources(sources.filter((one) => one !== source))}
          >
            <X size={12} aria-hidden />
          </Button>
        </li>
      ))}
    </ul>
  );
}
