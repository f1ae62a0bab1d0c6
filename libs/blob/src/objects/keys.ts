import { Fault } from "@trainyard/kernel";

/** S3 and Google Cloud Storage limit the UTF-8 bytes of a key, including the prefix. */
const keyBytesMax = 1_024;

/**
 * Throws a Fault `invalid_key` unless the key is names between slashes. A name has any characters except NUL, carriage
 * return and line feed. A name is not empty, `.` or `..`, because HTTP clients drop these from a path.
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

/** Normalises the prefix of all keys: `a/b/`, or empty. */
export function keyPrefix(prefix: string | undefined): string {
  const names = (prefix ?? "").split("/").filter((name) => name !== "");
  return names.length === 0 ? "" : `${names.join("/")}/`;
}
