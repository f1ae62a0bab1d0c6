import { Tabs as Radix } from "radix-ui";
import { type JSX, type ReactNode, useState } from "react";
import styles from "./tabs.module.css";

export type Tab = {
  readonly id: string;
  readonly title: string;
  /** A number beside the title. */
  readonly count?: number | undefined;
};

type Props = {
  /** The name of the tabs, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The id of the open tab: a part of the URL. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  /** The content of the open tab. */
  readonly children: ReactNode;
};

export function Tabs({ label, tabs, value, onChange, children }: Props): JSX.Element {
  // A click focuses the tab by script as well, which the browser takes for the keyboard's focus.
  const [pressed, setPressed] = useState(false);
  return (
    <Radix.Root
      className={styles["root"]}
      value={value}
      onValueChange={onChange}
      activationMode="manual"
    >
      <Radix.List
        className={styles["list"]}
        aria-label={label}
        data-pressed={pressed}
        onPointerDownCapture={() => setPressed(true)}
        onKeyDownCapture={() => setPressed(false)}
        onBlur={({ currentTarget, relatedTarget }) => {
          // A tab is still the active element if only the window lost the focus.
          const stays = [relatedTarget, document.activeElement].some((element) =>
            currentTarget.contains(element),
          );
          if (!stays) setPressed(false);
        }}
      >
        {tabs.map(({ id, title, count }) => (
          <Radix.Trigger key={id} value={id} className={styles["tab"]}>
            {title}
            {count !== undefined && <span className={styles["count"]}>{count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} className={styles["content"]} tabIndex={-1}>
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
