import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type JSX, useEffect } from "react";
import { Command } from "../../components/empty-state.tsx";
import { Mark } from "../../components/mark.tsx";
import { backTo } from "./back.ts";
import { useCall } from "../../data/calls.ts";
import { PasswordForm, TokenForm } from "./forms.tsx";
import { Providers } from "./providers.tsx";
import styles from "./page.module.css";
import { signInRoute } from "./route.ts";

export function SignInPage(): JSX.Element {
  const { back, code } = signInRoute.useSearch();
  const queries = useQueryClient();
  const { history } = useRouter();
  const { passwords = false, providers = [] } = useCall("getVersion", {}).data?.signIn ?? {};
  const hasPeople = passwords || providers.length > 0;
  useEffect(() => {
    document.title = "Sign in · Trainyard";
  }, []);
  const enter = (): void => {
    queries.clear();
    history.push(backTo(back));
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
          one: <code>yard ui</code>
        </p>
      )}
      {passwords && <PasswordForm onDone={enter} />}
      <Providers of={providers} back={backTo(back)} />
      {hasPeople && <hr className={styles["line"]} />}
      <TokenForm label={hasPeople ? "Or a token" : "Token"} onDone={enter} />
      <div>
        <p className={styles["hint"]}>Or a link that signs you in, which this command prints:</p>
        <Command text="yard ui" />
      </div>
    </div>
  );
}
