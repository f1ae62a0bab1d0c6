/** Passwords as they are typed, and as they are sent. */
import { createHash } from "node:crypto";
import { askSecret, canAsk, standardInput } from "./prompts.ts";
import { UsageError } from "./usage-error.ts";

/** The salt of Determined's command line, whose users can therefore sign in with their passwords. */
const salt = "GubPEmmotfiK9TMD6Zdw";

/** The gateway sees only the hash of a new password, so the length is checked where it is typed. */
const charactersMin = 8;

/** Returns the form in which a password is sent. The form is as secret as the password. */
export function sentPassword(typed: string): string {
  return createHash("sha512")
    .update(salt + typed)
    .digest("hex");
}

export type PasswordOptions = { readonly stdin?: boolean };

/** Reads a new password in the form in which it is sent: it is typed twice, or is the first line of stdin. */
export async function newPassword(options: PasswordOptions): Promise<string> {
  return checked(options.stdin === true ? await oneLine() : await typedTwice());
}

/** Reads the present password and a new one: they are typed, or are the first two lines of stdin. */
export async function passwordChange(options: PasswordOptions) {
  if (options.stdin === true) {
    const [current = "", next = ""] = await inputLines();
    return { current: sentPassword(current), password: checked(next) };
  }
  requireTerminal();
  const current = sentPassword(await askSecret("present password: "));
  return { current, password: checked(await typedTwice()) };
}

async function typedTwice(): Promise<string> {
  requireTerminal();
  const typed = await askSecret("new password: ");
  if (typed === (await askSecret("new password again: "))) return typed;
  throw new UsageError("The two passwords differ.");
}

function checked(password: string): string {
  if ([...password].length >= charactersMin) return sentPassword(password);
  throw new UsageError(`A password has at least ${charactersMin} characters.`);
}

function requireTerminal(): void {
  if (canAsk()) return;
  throw new UsageError("A password is typed at a terminal: with --stdin it is read from stdin.");
}

const oneLine = async (): Promise<string> => (await inputLines())[0] ?? "";

const inputLines = async (): Promise<readonly string[]> => (await standardInput()).split(/\r?\n/);
