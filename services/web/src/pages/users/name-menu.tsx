import { Ellipsis } from "lucide-react";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import styles from "./page.module.css";

type Props = {
  readonly name: string;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
};

/** The actions of an admin on a group or a role. */
export function NameMenu({ name, onEdit, onDelete }: Props): JSX.Element {
  return (
    <Menu
      align="end"
      groups={[
        [{ title: "Edit", onSelect: onEdit }],
        [{ title: "Delete", danger: true, onSelect: onDelete }],
      ]}
      trigger={
        <Button look="plain" className={styles["more"]} aria-label={`More of ${name}`}>
          <Ellipsis size={14} aria-hidden />
        </Button>
      }
    />
  );
}
