import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type FocusEvent, type JSX, type ReactNode, useRef } from "react";
import { Button } from "./button.tsx";
import styles from "./dialog.module.css";

type Props = {
  readonly open: boolean;
  /** Called when the user closes the dialog: by Esc, the cross, or a click outside. */
  readonly onClose: () => void;
  readonly title: string;
  /** A sentence under the title. */
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons at the bottom right, the main one last. */
  readonly actions?: ReactNode;
  /** Called for Ctrl-Enter, or ⌘-Enter, anywhere in the dialog. */
  readonly onSubmit?: (() => void) | undefined;
  readonly wide?: boolean;
};

/**
 * Whether Escape belongs to a part of the dialog. The attribute is empty if the part always uses it; else it is a
 * selector of what Escape closes there, such as the search of an editor.
 */
function hasOwnEscape(target: EventTarget | null): boolean {
  const part = target instanceof Element ? target.closest("[data-own-escape]") : null;
  if (part === null) return false;
  const closes = part.getAttribute("data-own-escape") ?? "";
  return closes === "" || part.querySelector(closes) !== null;
}

/** Returns the element that was focused before the dialog; null if it was in a menu, which is gone by then. */
const cameFrom = ({ currentTarget, target, relatedTarget }: FocusEvent): HTMLElement | null => {
  const isOutside = currentTarget.contains(target) && !currentTarget.contains(relatedTarget);
  const isPlace =
    relatedTarget instanceof HTMLElement && relatedTarget.closest("[role=menu]") === null;
  return isOutside && isPlace ? relatedTarget : null;
};

/** A modal dialog: the focus stays inside, and returns to its earlier place afterwards. */
export function Dialog(props: Props): JSX.Element {
  const { open, onClose, title, description, children, actions, onSubmit, wide = false } = props;
  const before = useRef<HTMLElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={styles["overlay"]} />
        <Radix.Content
          className={styles["dialog"]}
          data-wide={wide}
          onKeyDownCapture={(event) => {
            const isSubmit = event.key === "Enter" && (event.ctrlKey || event.metaKey);
            if (!isSubmit || onSubmit === undefined) return;
            event.preventDefault();
            event.stopPropagation();
            onSubmit();
          }}
          onFocus={(event) => {
            before.current = cameFrom(event) ?? before.current;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            before.current?.focus();
          }}
          onEscapeKeyDown={(event) => {
            if (hasOwnEscape(event.target)) event.preventDefault();
          }}
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
