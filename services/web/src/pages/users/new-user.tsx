import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { newUser, requestOf, UserFields } from "./user-fields.tsx";

type Props = {
  /** The cluster has no users yet. */
  readonly isFirst: boolean;
  readonly onClose: () => void;
};

/** Creates a user, and shows the password of a person once. */
export function NewUser({ isFirst, onClose }: Props): JSX.Element {
  const create = useChange("createUser", ["getMe", "listUsers", "getCurrentSession", "listTokens"]);
  const [typed, setTyped] = useState(newUser);
  const say = useSay();
  const { name } = typed;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { request: { ...requestOf(typed), ...(isFirst ? { admin: true } : {}) } },
      {
        onSuccess: ({ password }) => {
          if (password !== "") return;
          say.done(`The service account ${name.trim()} is created: give it a role and a token.`);
          onClose();
        },
      },
    );
  };
  const made = create.data;
  if (made !== undefined && made.password !== "") {
    return (
      <ShownOnce
        title={`The password of ${made.user?.name ?? name}`}
        description="The password is shown only once: copy it, and give it to the person, who changes it on the page Account."
        secret={made.password}
        noun="password"
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={isFirst ? "The first user" : "New user"}
      description={
        isFirst
          ? "This person becomes the admin of the cluster, who creates the others."
          : undefined
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form="new-user"
            disabled={name.trim() === "" || create.isPending}
          >
            Create
          </Button>
        </>
      }
    >
      <form id="new-user" onSubmit={submit}>
        <UserFields isFirst={isFirst} typed={typed} onChange={setTyped} />
      </form>
      {create.error !== null && <ErrorNote error={create.error} />}
    </Dialog>
  );
}
