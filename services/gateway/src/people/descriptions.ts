import { localUser } from "@trainyard/access";
import { isLine } from "@trainyard/kernel";
import { Problem } from "../http/problem.ts";
import { peopleLimits } from "./limits.ts";
import { keyOfName } from "./user-rows.ts";

const { nameCharactersMax, displayNameCharactersMax, emailCharactersMax } = peopleLimits;
// Paths have names, so none is "..", and so have command lines, where "-x" is an option.
const namePattern = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,${nameCharactersMax - 1}}$`);

/** Whether a name may be a user's id: calls name users by both, and a name takes precedence. */
export const isLikeId = (name: string): boolean => /^[0-9a-f]{12}$/i.test(name);

/** Throws a Problem of 400 for a name that no user may have. */
export function requireName(name: string): void {
  if (isLikeId(name)) {
    const detail = "the name of a user is not 12 hexadecimal digits, since those are ids of users";
    throw new Problem(400, "invalid_request", detail);
  }
  if (keyOfName(name) === localUser) {
    const detail = `the name ${localUser} is that of the service account of the tokens from before the first user`;
    throw new Problem(409, "user_exists", detail);
  }
  if (namePattern.test(name)) return;
  const detail = `the name of a user has 1 to ${nameCharactersMax} letters of a to z, digits and . _ @ + -, and begins with a letter or a digit`;
  throw new Problem(400, "invalid_request", detail);
}

/** Throws a Problem of 400 for a display name or an address that no user may have. */
export function requireDescription({
  displayName,
  email,
}: {
  readonly displayName: string;
  readonly email: string;
}): void {
  if (!isLine(displayName) || displayName.length > displayNameCharactersMax) {
    const detail = `a display name is one line of at most ${displayNameCharactersMax} characters`;
    throw new Problem(400, "invalid_request", detail);
  }
  if (email === "") return;
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || !isLine(email) || email.length > emailCharactersMax) {
    const detail = `an e-mail address has the form name@host, with at most ${emailCharactersMax} characters`;
    throw new Problem(400, "invalid_request", detail);
  }
}
