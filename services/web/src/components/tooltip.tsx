import { Tooltip as Radix } from "radix-ui";
import type { JSX, ReactElement, ReactNode } from "react";
import styles from "./tooltip.module.css";

type Props = {
  readonly text: ReactNode;
  /** A focusable element. */
  readonly children: ReactElement;
};

/** A short explanation of what is pointed at or focused; never the only place where something is said. */
export function Tooltip({ text, children }: Props): JSX.Element {
  return (
    <Radix.Provider delayDuration={400}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content className={styles["tooltip"]} sideOffset={4} collisionPadding={8}>
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
