import { type FormEvent, type JSX, useId, useState } from "react";
import { useCall, useChange } from "../../data/calls.ts";
import { Button } from "../button.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Choice, Field } from "../field.tsx";
import { givable } from "./givable.ts";
import styles from "./grants.module.css";

/** Users that the field offers while somebody types. */
const offeredMax = 20;

/** Gives a role to a user or a group, in a workspace or everywhere. */
export function GiveRole({ workspace }: { readonly workspace: string }): JSX.Element {
  const give = useChange("giveRole", ["listGrants", "getMe"]);
  const [who, setWho] = useState("");
  const roles = givable(useCall("listRoles", {}).data?.items ?? [], workspace);
  const [chosen, setRole] = useState("");
  const role = chosen || (roles[0]?.name ?? "");
  const groups = useCall("listGroups", {}).data?.items ?? [];
  const name = who.trim();
  const group = groups.find((one) => `group ${one.name}` === name)?.name;
  const list = useId();
  const users = useCall(
    "listUsers",
    { prefix: name, pageSize: offeredMax },
    { enabled: group === undefined, keepPrevious: true },
  );
  const isReady = name !== "" && role !== "" && !give.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    const holder = group === undefined ? { user: name } : { group };
    give.mutate({ request: { ...holder, role, workspace } }, { onSuccess: () => setWho("") });
  };
  return (
    <form className={styles["give"]} onSubmit={submit}>
      <Field
        label="Who"
        list={list}
        autoComplete="off"
        placeholder="a user, or group NAME"
        value={who}
        onChange={(event) => setWho(event.target.value)}
      />
      <datalist id={list}>
        {users.data?.items
          .filter(({ disabled }) => !disabled)
          .map((user) => (
            <option key={user.id} value={user.name} label={user.displayName} />
          ))}
        {groups.map((one) => (
          <option key={one.id} value={`group ${one.name}`} />
        ))}
      </datalist>
      <Choice label="Role" value={role} onChange={(event) => setRole(event.target.value)}>
        {roles.map((one) => (
          <option key={one.id} value={one.name} title={one.description}>
            {one.name}
          </option>
        ))}
      </Choice>
      <Button type="submit" disabled={!isReady}>
        Give
      </Button>
      <p className={styles["means"]}>{roles.find((one) => one.name === role)?.description}</p>
      {give.error !== null && (
        <div className={styles["means"]}>
          <ErrorNote error={give.error} />
        </div>
      )}
    </form>
  );
}
