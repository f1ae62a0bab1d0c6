import { assert, Fault } from "@trainyard/kernel";

/** S3 and Google Cloud Storage limit the UTF-8 bytes of a key, including the prefix. */
const keyBytesMax = 1_024;

/**
 * Throws a Fault `invalid_key` unless the key is names between slashes. A name has any characters except NUL, carriage
 * return and line feed. A name is not empty, `.` or `..`, because HTTP clients drop these from a path.
 */
export function checkObjectKey(key: string, prefix: string): void {
  const problem =
    hasDotName(key) || key.split("/").includes("") || key.startsWith(".well-known/acme-challenge/")
      ? "has a name that is empty, . or .."
      : /[\0\r\n]/.test(key) || !key.isWellFormed()
        ? "has a character that no store keeps in a key"
        : Buffer.byteLength(prefix + key) > keyBytesMax
          ? `is longer than ${keyBytesMax} bytes`
          : null;
  if (problem !== null) throw invalidKey(key, problem);
}

/**
 * Checks the keys of a deletion. Other tools leave objects whose keys this platform never writes, such as `<folder>/`:
 * keys that were listed below a folder are valid if they are below it.
 */
export function checkDeletion(keys: readonly string[], prefix: string, listedBelow?: string): void {
  assert(listedBelow?.endsWith("/") !== false, `${listedBelow} is a folder`);
  for (const key of keys) {
    if (listedBelow === undefined) checkObjectKey(key, prefix);
    else if (!key.startsWith(listedBelow)) throw invalidKey(key, `is not below ${listedBelow}`);
  }
}

export function hasDotName(key: string): boolean {
  return key.split("/").some((name) => name === "." || name === "..");
}

function invalidKey(key: string, problem: string): Fault {
  const detail = `${JSON.stringify(key)} is no key of an object: it ${problem}`;
  return new Fault("invalid_key", detail, { retry: "never", fields: { key } });
}

/** Normalises the prefix of all keys: `a/b/`, or empty. */
export function keyPrefix(prefix: string | undefined): string {
  const names = (prefix ?? "").split("/").filter((name) => name !== "");
  return names.length === 0 ? "" : `${names.join("/")}/`;
}
