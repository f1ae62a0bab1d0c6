import type { RequestInitOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { Choice, Field } from "../../components/field.tsx";
import styles from "./page.module.css";

export const newUser = { name: "", displayName: "", email: "", kind: "person", admin: false };

type NewUser = typeof newUser;

/** Returns the request for a new user. A service account has neither an address nor the role of an admin. */
export function requestOf(typed: NewUser): RequestInitOf<"createUser"> {
  const named = { ...typed, name: typed.name.trim() };
  return typed.kind === "person" ? named : { ...named, email: "", admin: false };
}

type Props = {
  /** The first user is a person, and becomes the admin. */
  readonly isFirst: boolean;
  readonly typed: NewUser;
  readonly onChange: (typed: NewUser) => void;
};

export function UserFields({ isFirst, typed, onChange }: Props): JSX.Element {
  const isPerson = typed.kind === "person";
  const of = (field: Exclude<keyof NewUser, "admin">) => ({
    value: typed[field],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange({ ...typed, [field]: target.value }),
  });
  return (
    <>
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
            checked={typed.admin}
            onChange={({ target }) => onChange({ ...typed, admin: target.checked })}
          />
          Admin of the cluster
        </label>
      )}
    </>
  );
}
