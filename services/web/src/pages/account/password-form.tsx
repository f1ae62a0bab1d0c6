import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { newPasswordFault, sentPassword } from "../../data/password.ts";
import styles from "./page.module.css";

const empty = { current: "", password: "", again: "" };

/** Changes the caller's own password. */
export function PasswordForm({ name }: { readonly name: string }): JSX.Element {
  const [typed, setTyped] = useState(empty);
  const { current, password, again } = typed;
  const set = useChange("setPassword", ["getMe"]);
  const say = useSay();
  const fault = newPasswordFault(password);
  const differs = again !== "" && again !== password;
  const isWhole = current !== "" && password !== "" && again !== "" && fault === undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWhole || differs) return;
    void Promise.all([sentPassword(current), sentPassword(password)]).then(([before, after]) =>
      set.mutate(
        { request: { current: before, password: after } },
        {
          onSuccess: () => {
            setTyped(empty);
            say.done("The password is changed. Your other sessions have ended.");
          },
        },
      ),
    );
  };
  const of = (field: keyof typeof empty) => ({
    type: "password",
    value: typed[field],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setTyped((now) => ({ ...now, [field]: target.value })),
  });
  return (
    <form className={styles["part"]} onSubmit={submit} aria-labelledby="password">
      <h2 id="password">New password</h2>
      {/* Password stores look for the name in the form. */}
      <input type="text" autoComplete="username" value={name} readOnly hidden />
      <Field label="Present password" autoComplete="current-password" {...of("current")} />
      <Field label="New password" autoComplete="new-password" error={fault} {...of("password")} />
      <Field
        label="New password again"
        autoComplete="new-password"
        error={differs ? "It is not the same." : undefined}
        {...of("again")}
      />
      {set.error !== null && <ErrorNote error={set.error} />}
      <Button type="submit" disabled={!isWhole || differs || set.isPending}>
        Change the password
      </Button>
    </form>
  );
}
