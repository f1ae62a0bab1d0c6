import type { Plain } from "@trainyard/contracts";
import type { User } from "@trainyard/contracts/api";
import { Ellipsis } from "lucide-react";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import styles from "./page.module.css";
import type { UserAction } from "./user-dialog.tsx";

type Props = { readonly user: Plain<User>; readonly onAsk: (action: UserAction) => void };

/** The actions of an admin on a user. */
export function UserMenu({ user, onAsk }: Props): JSX.Element {
  const { name, kind, disabled } = user;
  const say = useSay();
  const enable = useChange("enableUser", ["listUsers"]);
  const run = (): void => {
    void enable
      .mutateAsync({ request: { user: name } })
      .then(() => say.done(`${name} may sign in again.`), say.failed);
  };
  return (
    <Menu
      align="end"
      groups={[
        [
          { title: "Edit", onSelect: () => onAsk({ kind: "edit", user }) },
          ...(kind === "person"
            ? [{ title: "Reset the password", onSelect: () => onAsk({ kind: "reset", user }) }]
            : []),
        ],
        [
          disabled
            ? { title: "Enable", onSelect: run, disabled: enable.isPending }
            : { title: "Disable", danger: true, onSelect: () => onAsk({ kind: "disable", user }) },
        ],
      ]}
      trigger={
        <Button look="plain" className={styles["more"]} aria-label={`More of ${name}`}>
          <Ellipsis size={14} aria-hidden />
        </Button>
      }
    />
  );
}
