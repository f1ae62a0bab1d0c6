import { Fault } from "@trainyard/kernel";

/** S3 and Google Cloud Storage count a key's UTF-8, the prefix with it. */
const keyBytesMax = 1_024;

/**
 * Names between slashes, of any characters that UTF-8 writes but NUL, carriage return and line feed; no name is empty,
 * `.` or `..`, which clients of HTTP leave out of a path. Throws a Fault `invalid_key`.
 */
export function checkObjectKey(key: string, prefix: string): void {
  const names = key.split("/");
  const problem =
    names.some((name) => name === "" || name === "." || name === "..") ||
    key.startsWith(".well-known/acme-challenge/")
      ? "has a name that is empty, . or .."
      : /[\0\r\n]/.test(key) || !key.isWellFormed()
        ? "has a character that no store keeps in a key"
        : Buffer.byteLength(prefix + key) > keyBytesMax
          ? `is longer than ${keyBytesMax} bytes`
          : null;
  if (problem === null) return;
  throw new Fault("invalid_key", `${JSON.stringify(key)} is no key of an object: it ${problem}`, {
    retry: "never",
    fields: { key },
  });
}

/** The prefix of each key: `a/b/`, or empty. */
export function keyPrefix(prefix: string | undefined): string {
  const names = (prefix ?? "").split("/").filter((name) => name !== "");
  return names.length === 0 ? "" : `${names.join("/")}/`;
}
