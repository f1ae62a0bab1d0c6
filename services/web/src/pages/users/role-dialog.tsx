import { onlyEverywhere } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Role } from "@trainyard/contracts/api";
import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useChange } from "../../data/calls.ts";
import styles from "./page.module.css";
import { permissionRows } from "./permission-texts.ts";

type Props = {
  /** Absent for a new role. */
  readonly role?: Plain<Role>;
  readonly onClose: () => void;
};

/** Defines a role from permissions. */
export function RoleDialog({ role, onClose }: Props): JSX.Element {
  const [name, setName] = useState(role?.name ?? "");
  const [description, setDescription] = useState(role?.description ?? "");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(role?.permissions));
  const define = useChange("defineRole", ["listRoles", "getMe"]);
  const isReady = name.trim() !== "" && chosen.size > 0 && !define.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    const request = { role: name.trim(), description, permissions: [...chosen] };
    define.mutate({ request }, { onSuccess: onClose });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={role === undefined ? "New role" : `Edit the role ${role.name}`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="role" disabled={!isReady}>
            {role === undefined ? "Create" : "Save"}
          </Button>
        </>
      }
    >
      <form id="role" onSubmit={submit}>
        <Field
          label="Name"
          hint="1 to 100 lower-case letters, digits and hyphens."
          autoFocus={role === undefined}
          disabled={role !== undefined}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <Permissions chosen={chosen} onChange={setChosen} />
      </form>
      {define.error !== null && <ErrorNote error={define.error} />}
    </Dialog>
  );
}

function Permissions(props: {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}): JSX.Element {
  const { chosen, onChange } = props;
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  return (
    <fieldset className={styles["permissions"]}>
      <legend>Permissions</legend>
      {permissionRows.map(({ name, text }) => (
        <label key={name} className={styles["permission"]}>
          <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
          <span>
            <code>{name}</code>
            {onlyEverywhere.has(name) && " (only everywhere)"}
            <small>{text}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
