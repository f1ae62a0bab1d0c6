/**
 * The form in which passwords are sent: a SHA-512 of a fixed salt and the password, which the command line of
 * Determined sends as well. The gateway hashes it again.
 */
import { sha512 } from "./sha512.ts";

const salt = "GubPEmmotfiK9TMD6Zdw";

export async function sentPassword(
  password: string,
  subtle: SubtleCrypto | null = globalThis.crypto.subtle ?? null,
): Promise<string> {
  const text = salt + password;
  // Browsers have no `subtle` on a page that came over HTTP from another machine.
  if (subtle === null) return sha512(text);
  const digest = await subtle.digest("SHA-512", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The gateway sees only the hash of a new password, so the length is checked where it is typed. */
const charactersMin = 8;

/** Returns why a password that is being typed cannot be a new one; undefined if it can, or while nothing is typed. */
export function newPasswordFault(password: string): string | undefined {
  const isShort = password !== "" && [...password].length < charactersMin;
  return isShort ? `A password has at least ${charactersMin} characters.` : undefined;
}
