/**
 * Output may contain U+0000, PostgreSQL's text may not. An escape encodes it one-to-one, so that a line is read back as
 * the process wrote it: U+0000 as U+0001 "0", and U+0001 as U+0001 "1".
 */
const escape = "\u0001";

export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(escape)) return text;
  return text.replaceAll(escape, `${escape}1`).replaceAll("\0", `${escape}0`);
}

export function fromStored(stored: string): string {
  if (!stored.includes(escape)) return stored;
  return stored.replaceAll(`${escape}0`, "\0").replaceAll(`${escape}1`, escape);
}
