import { Problem } from "../../http/problem.ts";
import type { ProviderSettings } from "./config.ts";
import { oidcLimits } from "./limits.ts";

/** The claims of a verified ID token, with those of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly iss: string;
  readonly sub: string;
};

/** Whether the claims let a first sign-in create a user: the claim has the value, or is a list with it. */
export function createsUsers(claims: Claims, { creating }: ProviderSettings): boolean {
  if (creating === null) return false;
  const claimed = claims[creating.claim];
  const all: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed];
  return all.some((one) => one !== undefined && one !== null && String(one) === creating.value);
}

/**
 * Returns the names of the groups; empty without the claim. Throws a Problem if the claim is no list of names, or too
 * long.
 */
export function groupsIn(claims: Claims, claim: string): readonly string[] {
  const claimed = claims[claim] ?? [];
  if (!isNames(claimed)) {
    throw new Problem(403, "wrong_groups", `the claim ${claim} is no list of names of groups`);
  }
  if (claimed.length > oidcLimits.groupsMax) {
    const detail = `the claim ${claim} names ${claimed.length} groups; the maximum is ${oidcLimits.groupsMax}`;
    throw new Problem(403, "wrong_groups", detail);
  }
  return claimed;
}

const isNames = (claimed: unknown): claimed is readonly string[] =>
  Array.isArray(claimed) && claimed.every((one) => typeof one === "string");

/** Returns a name that a user may have, from the claim of the name. */
export function nameIn(claims: Claims, claim: string): string {
  const claimed = claims[claim];
  const text = typeof claimed === "string" ? claimed : "";
  const name = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._@+-]/g, "")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 90);
  return name === "" ? "user" : name;
}

/** Returns the e-mail address that the provider has verified; empty for none. It identifies nobody. */
export function verifiedEmailIn(claims: Claims): string {
  const { email, email_verified: isVerified } = claims;
  const isShown = isVerified === true && typeof email === "string" && email.length <= 254;
  return isShown && /^[^\s@]+@[^\s@]+$/.test(email) ? email : "";
}
