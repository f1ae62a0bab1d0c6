import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { JSX, ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./dialog.module.css";

type Props = {
  readonly open: boolean;
  /** Called when the user closes it: Esc, the cross, a click outside. */
  readonly onClose: () => void;
  readonly title: string;
  /** A sentence under the title. */
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons at the bottom right, the one that does it last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
};

/** A modal dialog: the focus stays in it and returns to where it was. */
export function Dialog(props: Props): JSX.Element {
  const { open, onClose, title, description, children, actions, wide = false } = props;
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={styles["overlay"]} />
        <Radix.Content
          className={styles["dialog"]}
          data-wide={wide}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <header className={styles["header"]}>
            <Radix.Title>{title}</Radix.Title>
            <Radix.Close asChild>
              <Button look="plain" aria-label="Close">
                <X size={16} aria-hidden />
              </Button>
            </Radix.Close>
          </header>
          <div className={styles["body"]}>
            {description !== undefined && (
              <Radix.Description className={styles["description"]}>{description}</Radix.Description>
            )}
            {children}
          </div>
          {actions !== undefined && <footer className={styles["actions"]}>{actions}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
