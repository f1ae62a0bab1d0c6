import type { Plain } from "@trainyard/contracts";
import type { User } from "@trainyard/contracts/api";

type Given = Pick<Plain<User>, "kind" | "disabled" | "hasPassword" | "identities">;

export const kindText = ({ kind }: Given): string =>
  kind === "service" ? "service account" : "person";

export const stateText = ({ disabled }: Given): string => (disabled ? "disabled" : "active");

/** Returns the ways in which the user signs in; service accounts have tokens only. */
export function signInText({ kind, hasPassword, identities }: Given): string {
  if (kind === "service") return "tokens only";
  return [
    ...(hasPassword ? ["password"] : []),
    ...identities.map(({ issuer }) => hostOf(issuer)),
  ].join(", ");
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}
