import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice, Field } from "../../components/field.tsx";
import { ShownOnce } from "../../components/shown-once.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import styles from "./page.module.css";

type Props = {
  /** The cluster has no users yet. */
  readonly isFirst: boolean;
  readonly onClose: () => void;
};

const empty = { name: "", displayName: "", email: "", kind: "person" };

/** Creates a user, and shows the password of a person once. */
export function NewUser({ isFirst, onClose }: Props): JSX.Element {
  const create = useChange("createUser", ["getMe", "listUsers", "getCurrentSession", "listTokens"]);
  const [typed, setTyped] = useState(empty);
  const [admin, setAdmin] = useState(false);
  const say = useSay();
  const { name, kind } = typed;
  const isPerson = isFirst || kind === "person";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { request: { ...typed, name: name.trim(), admin: isPerson && (isFirst || admin) } },
      {
        onSuccess: ({ password }) => {
          if (password !== "") return;
          say.done(`The service account ${name.trim()} is created: give it a role and a token.`);
          onClose();
        },
      },
    );
  };
  const of = (field: keyof typeof empty) => ({
    value: typed[field],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setTyped((now) => ({ ...now, [field]: target.value })),
  });
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
        {!isFirst && (
          <Choice label="Kind" {...of("kind")}>
            <option value="person">a person, who signs in with a password</option>
            <option value="service">a service account, which has tokens only</option>
          </Choice>
        )}
        <Field
          label="Name"
          hint="1 to 100 letters, digits and . _ @ + -"
          autoFocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          {...of("name")}
        />
        <Field label="Display name" autoComplete="off" {...of("displayName")} />
        {isPerson && (
          <Field label="E-mail address" type="email" autoComplete="off" {...of("email")} />
        )}
        {isPerson && !isFirst && (
          <label className={styles["check"]}>
            <input
              type="checkbox"
              checked={admin}
              onChange={(event) => setAdmin(event.target.checked)}
            />
            Admin of the cluster
          </label>
        )}
      </form>
      {create.error !== null && <ErrorNote error={create.error} />}
    </Dialog>
  );
}
