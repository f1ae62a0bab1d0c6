import type { Plain, ReplyOf } from "@trainyard/contracts";
import type { Identity } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { PlainTable } from "../../components/plain-table.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import styles from "./page.module.css";

/** The identities of providers by which the person signs in, with their removal and links that add further ones. */
export function SignIns({ user }: { readonly user: ReplyOf<"getUser"> }): JSX.Element | null {
  const { name, identities } = user;
  const { providers = [] } = useCall("getVersion", {}).data?.signIn ?? {};
  const { mutateAsync, isPending } = useChange("updateUser", ["getMe", "listUsers"]);
  const say = useSay();
  if (providers.length === 0 && identities.length === 0) return null;
  const remove = (identity: Plain<Identity>): void => {
    void mutateAsync({ request: { user: name, removeIdentity: identity } }).then(
      () => say.done("The sign-in is removed. Your other sessions have ended."),
      say.failed,
    );
  };
  return (
    <section className={styles["part"]} aria-labelledby="sign-ins">
      <h2 id="sign-ins">Sign-ins</h2>
      {identities.length === 0 ? (
        <p className={styles["none"]}>You sign in by your password only.</p>
      ) : (
        <PlainTable
          caption="Sign-ins"
          columns={[
            { title: "Provider", cell: ({ issuer }) => issuer },
            { title: "Subject", cell: ({ subject }) => subject },
            {
              title: "",
              cell: (identity) => (
                <Button
                  look="link"
                  disabled={isPending}
                  aria-label={`Remove the sign-in by ${identity.issuer}`}
                  onClick={() => remove(identity)}
                >
                  Remove
                </Button>
              ),
            },
          ]}
          rows={identities}
          keyOf={({ issuer, subject }) => JSON.stringify([issuer, subject])}
        />
      )}
      {providers.map((provider) => (
        <a key={provider.path} href={`${provider.path}/join?page=/account`}>
          Add a sign-in by {provider.name}
        </a>
      ))}
      {providers.length > 0 && (
        <p className={styles["none"]}>
          Sign in again first if you signed in more than 10 minutes ago.
        </p>
      )}
    </section>
  );
}
