/**
 * The tokens of runs and people in a line: a program that prints its environment would give its token to everybody who
 * sees the log, and that of a task acts for the task's owner.
 */

/** The forms of `runToken` and of a person's token. The id of the latter stays, by which it is revoked. */
const tokens =
  /ty1\.[\w-]+\.[\w-]+\.\d{1,15}\.[0-9a-f-]{36}\.[\w-]{43}|(ty_[0-9a-f]{16}_)[\w-]{43}/g;

/** Returns a text without the secrets of tokens. Most texts have none, and take two searches. */
export function withoutTokens(text: string): string {
  if (!text.includes("ty1.") && !text.includes("ty_")) return text;
  return text.replaceAll(tokens, (_, person?: string) => `${person ?? "ty1."}<masked>`);
}
