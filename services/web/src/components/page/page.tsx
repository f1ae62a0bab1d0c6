import { ChevronRight, Ellipsis } from "lucide-react";
import { type JSX, type ReactNode, useEffect } from "react";
import { Button } from "../button.tsx";
import { Menu } from "../menu.tsx";
import { PathLink } from "../path-link.tsx";
import { LiveNote } from "./live-note.tsx";
import styles from "./page.module.css";
import { useOfferVerbs, type Verb } from "./verbs.tsx";

type Props = {
  /** The title of the browser's tab, and the last part of the breadcrumb. */
  readonly title: string;
  /** The last part of the breadcrumb, if it is more than the title: a name that is edited in place. */
  readonly heading?: ReactNode;
  /** The pages above this one. */
  readonly above?: readonly { readonly title: string; readonly to: string }[];
  /** A StateBadge beside the title. */
  readonly state?: ReactNode;
  /**
   * The first two verbs, or those that are primary, are buttons; the others, and those that cannot run, are in a menu.
   * All that can run are in the palette.
   */
  readonly verbs?: readonly Verb[];
  readonly children: ReactNode;
};

const noVerbs: readonly Verb[] = [];

/** A page: a header with breadcrumb, state, verbs and the age of the data, and below it the content, which scrolls. */
export function Page(props: Props): JSX.Element {
  const { title, heading = title, above = [], state, verbs = noVerbs, children } = props;
  useEffect(() => {
    document.title = `${title} · Trainyard`;
  }, [title]);
  useOfferVerbs(verbs);
  return (
    <div className={styles["page"]}>
      <header className={styles["header"]}>
        <nav aria-label="Breadcrumb" className={styles["crumbs"]}>
          <ol>
            {above.map((place) => (
              <li key={place.to}>
                <PathLink to={place.to}>{place.title}</PathLink>
                <ChevronRight size={14} aria-hidden />
              </li>
            ))}
            <li aria-current="page">
              <h1>{heading}</h1>
            </li>
          </ol>
        </nav>
        {state}
        <div className={styles["right"]}>
          <LiveNote />
          <VerbButtons verbs={verbs} />
        </div>
      </header>
      <div className={styles["content"]}>{children}</div>
    </div>
  );
}

function VerbButtons({ verbs }: { readonly verbs: readonly Verb[] }): JSX.Element {
  const possible = verbs.filter(({ why }) => why === undefined);
  const buttons = possible.filter((verb, at) => verb.primary === true || at < 2);
  const rest = verbs.filter((verb) => !buttons.includes(verb));
  const items = rest.map(({ run, why, ...verb }) => ({ ...verb, note: why, onSelect: run }));
  return (
    <>
      {buttons.map((verb, at) => (
        <Button
          // The key is the button's position, so that a changing title does not take the focus away.
          key={at}
          onClick={verb.run}
          disabled={verb.disabled ?? false}
          look={verb.primary === true ? "primary" : verb.danger === true ? "danger" : "normal"}
        >
          {verb.title}
        </Button>
      ))}
      {rest.length > 0 && (
        <Menu
          align="end"
          groups={[
            items.filter((item) => item.danger !== true),
            items.filter((item) => item.danger),
          ]}
          trigger={
            <Button aria-label="More">
              <Ellipsis size={16} aria-hidden />
            </Button>
          }
        />
      )}
    </>
  );
}
