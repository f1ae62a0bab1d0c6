import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { signIn } from "../../data/session.ts";
import { signInFailure } from "./failure.ts";
import styles from "./page.module.css";

type Props = { readonly onDone: () => void };

/** Signs in a person by name and password. */
export function PasswordForm({ onDone }: Props): JSX.Element {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { submit, error, isBusy } = useSignIn("password", onDone);
  return (
    <form
      className={styles["form"]}
      onSubmit={submit(
        name.trim() === "" || password === "" ? "Type your name and your password." : "",
        { name: name.trim(), password },
      )}
    >
      <Field
        label="Name"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={error}
      />
      <Button look="primary" type="submit" disabled={isBusy}>
        {isBusy ? "Signing in…" : "Sign in"}
      </Button>
    </form>
  );
}

/** Signs in with a token. */
export function TokenForm({ label, onDone }: Props & { readonly label: string }): JSX.Element {
  const [token, setToken] = useState("");
  const { submit, error, isBusy } = useSignIn("token", onDone);
  return (
    <form
      className={styles["form"]}
      onSubmit={submit(token.trim() === "" ? "Paste a token first." : "", { token: token.trim() })}
    >
      <Field
        label={label}
        type="password"
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.target.value)}
        hint="It is sent to this cluster once, and not kept in the browser."
        error={error}
      />
      <Button type="submit" disabled={isBusy}>
        {isBusy ? "Signing in…" : "Sign in with the token"}
      </Button>
    </form>
  );
}

function useSignIn(by: "token" | "password", onDone: () => void) {
  const [error, setError] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const submit =
    (missing: string, given: Parameters<typeof signIn>[0]) =>
    (event: FormEvent): void => {
      event.preventDefault();
      if (missing !== "") {
        setError(missing);
        return;
      }
      setBusy(true);
      signIn(given).then(onDone, (failure: unknown) => {
        setError(signInFailure(failure, by));
        setBusy(false);
      });
    };
  return { submit, error, isBusy };
}
