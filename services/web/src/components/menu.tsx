import { DropdownMenu } from "radix-ui";
import type { JSX, ReactElement, ReactNode } from "react";
import styles from "./menu.module.css";

export type MenuItem = {
  readonly title: string;
  readonly onSelect: () => void;
  readonly icon?: ReactNode;
  /** The key with the same effect. */
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** A sentence below the title, such as the reason why the item is disabled. */
  readonly note?: string | undefined;
  /** For an item that is a choice: reports whether it is chosen. */
  readonly checked?: boolean;
};

type Props = {
  /** The button that opens the menu. */
  readonly trigger: ReactElement;
  /** Groups of items, with a line between them. */
  readonly groups: readonly (readonly MenuItem[])[];
  readonly align?: "start" | "end";
};

export function Menu({ trigger, groups, align = "start" }: Props): JSX.Element {
  const shown = groups.filter((items) => items.length > 0);
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles["menu"]} align={align} sideOffset={4}>
          {shown.map((items, at) => (
            <DropdownMenu.Group key={items[0]?.title ?? at} className={styles["group"]}>
              {items.map((item) => (
                <Item key={item.title} {...item} />
              ))}
            </DropdownMenu.Group>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item(item: MenuItem): JSX.Element {
  const { title, onSelect, icon, keys, danger = false, disabled = false, checked, note } = item;
  // An item with a reason can be reached by keyboard, so that the reason is read; it does nothing.
  const isExplained = disabled && note !== undefined;
  const shared = {
    className: styles["item"],
    disabled: disabled && !isExplained,
    onSelect: isExplained ? (event: Event) => event.preventDefault() : onSelect,
    "data-danger": danger,
    ...(isExplained ? { "aria-disabled": true, "data-disabled": "", title: note } : {}),
  };
  const content = (
    <>
      <span className={styles["icon"]}>{checked === true ? "✓" : icon}</span>
      {note === undefined ? (
        title
      ) : (
        <span className={styles["noted"]}>
          {title}
          <small>{note}</small>
        </span>
      )}
      {keys !== undefined && <kbd className={styles["keys"]}>{keys}</kbd>}
    </>
  );
  if (checked === undefined) return <DropdownMenu.Item {...shared}>{content}</DropdownMenu.Item>;
  return (
    <DropdownMenu.CheckboxItem {...shared} checked={checked}>
      {content}
    </DropdownMenu.CheckboxItem>
  );
}
