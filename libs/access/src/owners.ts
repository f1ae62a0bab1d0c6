/** The owners that events record, and the users that they are. */

/** The id of the service account to which the tokens belong that a cluster had before its first user. */
export const localUser = "local";

const prefix = "user:";

/** Returns how events record a user. */
export const authidOf = (user: string): string => `${prefix}${user}`;

/** Whether an owner is a user by id, not one from before the first user. */
export const isUser = (owner: string): boolean => owner.startsWith(prefix);

/** Returns the id of the user that an owner is. Owners of tokens from before the first user are the account `local`. */
export const userOf = (owner: string): string =>
  isUser(owner) ? owner.slice(prefix.length) : localUser;

/** Whether two owners are one user. An object without an owner is nobody's. */
export const isSameUser = (one: string, other: string): boolean =>
  one !== "" && other !== "" && userOf(one) === userOf(other);
