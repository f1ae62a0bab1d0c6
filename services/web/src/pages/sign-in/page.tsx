import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { ApiError } from "@trainyard/client";
import { type FormEvent, type JSX, useEffect, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Command } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { Mark } from "../../components/mark.tsx";
import { shownError } from "../../components/problem.ts";
import { signIn } from "../../data/session.ts";
import { backTo } from "./back.ts";
import styles from "./page.module.css";
import { signInRoute } from "./route.ts";

export function SignInPage(): JSX.Element {
  const { back, code } = signInRoute.useSearch();
  const queries = useQueryClient();
  const { history } = useRouter();
  const [token, setToken] = useState("");
  const [error, setError] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = "Sign in · Trainyard";
  }, []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token.trim() === "") {
      setError("Paste a token first.");
      return;
    }
    setBusy(true);
    signIn({ token: token.trim() }).then(
      () => {
        queries.clear();
        history.push(backTo(back));
      },
      (failure: unknown) => {
        setError(sentenceOf(failure));
        setBusy(false);
      },
    );
  };
  return (
    <div className={styles["page"]}>
      <h1 className={styles["title"]}>
        <Mark size={24} />
        Sign in to Trainyard
      </h1>
      {code === "refused" && (
        <p role="alert" className={styles["refused"]}>
          The link has been used already, or is older than 10 minutes. This command prints a new
          one:
        </p>
      )}
      <div>
        <p className={styles["hint"]}>A link that signs you in:</p>
        <Command text="yard ui" />
      </div>
      <form onSubmit={submit} className={styles["form"]}>
        <Field
          label="Or a token"
          type="password"
          autoComplete="current-password"
          autoFocus
          value={token}
          onChange={(event) => setToken(event.target.value)}
          hint="It is sent to this cluster once, and not kept in the browser."
          error={error}
        />
        <Button look="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </form>
    </div>
  );
}

/** The server does not recognise a text that cannot be a token, for example with a space. */
function sentenceOf(failure: unknown): string {
  const code = failure instanceof ApiError ? failure.problem.code : "";
  if (code === "no_token" || code === "invalid_token") {
    return "Invalid token: this cluster did not issue it. Paste the whole of it.";
  }
  const { what, todo } = shownError(failure);
  return code === "" ? `${what} ${todo}`.trim() : what;
}
