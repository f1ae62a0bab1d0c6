import { isFault } from "@trainyard/kernel";

/** The code of the Fault that is thrown for missing or wrong settings. */
export const wrongSettings = "invalid_environment";

const passwordMissing =
  "PostgreSQL asks for a password, and none is set, in the URL or in the variable of the password";

/** Returns the exit code of a program that could not start: 2 for wrong settings, 1 for any other reason. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return isFault(error) && error.code === wrongSettings ? 2 : 1;
}

/**
 * Returns the reason for people. Errors of Node, PostgreSQL and this project have a code, and their message is enough;
 * any other error is a bug, so its stack is returned. For a host name with several addresses, the messages are in the
 * inner errors.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  // The driver's error for a server that asks for a password while none is set.
  if (error.message.endsWith("client password must be a string")) return passwordMissing;
  return "code" in error ? error.message : (error.stack ?? error.message);
}
