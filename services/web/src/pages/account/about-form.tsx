import type { ReplyOf } from "@trainyard/contracts";
import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { changedTexts, type Edits } from "../../components/edits.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import styles from "./page.module.css";

type Texts = { readonly displayName: string; readonly email: string };

/** The display name and the address, which users change themselves. */
export function AboutForm({ user }: { readonly user: ReplyOf<"getUser"> }): JSX.Element {
  const { displayName, email } = user;
  const [edits, setEdits] = useState<Edits<Texts>>({});
  const change = changedTexts<Texts>({ displayName, email }, edits);
  const update = useChange("updateUser", ["getMe", "listUsers"]);
  const say = useSay();
  const isChanged = Object.keys(change).length > 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    update.mutate(
      { request: { user: user.name, ...change } },
      { onSuccess: () => say.done("Your account is saved.") },
    );
  };
  const of = (name: keyof Texts) => ({
    value: edits[name] ?? user[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setEdits((now) => ({ ...now, [name]: target.value })),
  });
  return (
    <form className={styles["part"]} onSubmit={submit} aria-labelledby="about">
      <h2 id="about">About you</h2>
      <Field label="Display name" autoComplete="name" maxLength={100} {...of("displayName")} />
      <Field
        label="E-mail address"
        hint="Only you and admins see it."
        type="email"
        autoComplete="email"
        {...of("email")}
      />
      {update.error !== null && <ErrorNote error={update.error} />}
      <Button type="submit" disabled={!isChanged || update.isPending}>
        Save
      </Button>
    </form>
  );
}
