import type { Plain } from "@trainyard/contracts";
import type { Group } from "@trainyard/contracts/api";
import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { NamesField } from "../../components/names-field.tsx";
import { useCall, useChange } from "../../data/calls.ts";

type Props = {
  /** Absent for a new group. */
  readonly group?: Plain<Group>;
  readonly onClose: () => void;
};

const refresh = ["listGroups", "listUsers", "listGrants", "getMe"] as const;
const nobody: readonly string[] = [];

/** Makes a group, or changes its name and members. An identity provider alone changes the members of its groups. */
export function GroupDialog({ group, onClose }: Props): JSX.Element {
  const before = group?.members ?? nobody;
  const [name, setName] = useState(group?.name ?? "");
  const [members, setMembers] = useState(before);
  const users = useCall("listUsers", { pageSize: 1_000 });
  const { save, isPending, error } = useSave(group, onClose);
  const isReady = name.trim() !== "" && !isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) save(name.trim(), members);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={group === undefined ? "New group" : `Edit the group ${group.name}`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="group" disabled={!isReady}>
            {group === undefined ? "Create" : "Save"}
          </Button>
        </>
      }
    >
      <form id="group" onSubmit={submit}>
        <Field
          label="Name"
          autoFocus
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <NamesField
          label="Members"
          {...(group?.fromClaim === true
            ? {
                hint: "The identity provider replaces the members at each sign-in.",
                disabled: true,
              }
            : {})}
          names={members}
          offered={users.data?.items.map((user) => user.name) ?? nobody}
          onAdd={(added) => setMembers([...members, added])}
          onRemove={(removed) => setMembers(members.filter((one) => one !== removed))}
        />
      </form>
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}

function useSave(group: Props["group"], onClose: () => void) {
  const create = useChange("createGroup", refresh);
  const rename = useChange("renameGroup", refresh);
  const change = useChange("changeGroupMembers", refresh);
  const save = async (name: string, members: readonly string[]): Promise<void> => {
    if (group === undefined) {
      await create.mutateAsync({ request: { name, members: [...members] } });
      return;
    }
    const join = members.filter((one) => !group.members.includes(one));
    const leave = group.members.filter((one) => !members.includes(one));
    if (join.length + leave.length > 0) {
      await change.mutateAsync({ request: { group: group.id, join, leave } });
    }
    if (name !== group.name) await rename.mutateAsync({ request: { group: group.id, name } });
  };
  return {
    // The dialog shows the error of the call that failed.
    save: (name: string, members: readonly string[]) =>
      void save(name, members).then(onClose, () => {}),
    isPending: create.isPending || rename.isPending || change.isPending,
    error: create.error ?? change.error ?? rename.error,
  };
}
