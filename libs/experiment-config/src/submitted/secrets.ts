/**
 * Finds the secrets in a configuration and masks them. A value is a secret by the name of its key (`password`,
 * `api_key`, `hf_token`), by the name of an environment variable (`HF_TOKEN=…` in a list), or as the password in a URL.
 * Hyperparameters are never secrets: each trial shows them. Secrets in a command line are not recognised.
 */
import { isMapping, itemPath, type Json, type JsonObject, keyPath } from "../json.ts";
import { pathsOfSecrets } from "../sections/as-written.ts";

/** The replacement of a secret. A configuration that contains it cannot be submitted. */
export const maskedValue = "<masked>";

const secretWords = new Set(
  "password passwd passphrase secret secrets token apikey credential credentials authorization".split(
    " ",
  ),
);
/** The words that make a following word a secret: `access_key`, but not `sort_key`. */
const keyKinds = new Set(["api", "access", "secret", "private", "signing", "encryption"]);
/** Keys whose value is a secret even if it is a number. */
const neverNumbers = new Set(["password", "passwd", "passphrase"]);

/** Mappings with hyperparameter values, which are never masked. */
const shownAnyway: readonly string[] = ["hyperparameters", "searcher.warm_start"];

const variable = /^([A-Za-z_][A-Za-z0-9_]*)=(.+)$/s;
/**
 * The quantifiers have bounds so that a long text is searched in linear time. A long user name without a password is a
 * token.
 */
const passwordInUrl = /([A-Za-z0-9+.-]:\/\/[^\s/:@]{0,256}:)[^\s/]{1,1024}(?=@)/g;
const tokenInUrl = /([A-Za-z0-9+.-]:\/\/)[^\s/:@]{20,1024}(?=@)/g;

/** Returns the configuration with its secrets masked. */
export function maskedDocument(document: JsonObject): JsonObject {
  return masked(document, "", false) as JsonObject;
}

/** Returns the paths of masked values, with the name of an environment variable. */
export function maskedPaths(document: Json): readonly MaskedPath[] {
  return pathsIn(document, "", []);
}

export type MaskedPath = {
  readonly path: string;
  /** The keys and list indexes that lead to the value. */
  readonly keys: readonly (string | number)[];
  /** The value including the mask. */
  readonly value: string;
  /** The name in prompts for the value. */
  readonly name: string;
};

function pathsIn(
  value: Json,
  path: string,
  keys: readonly (string | number)[],
): readonly MaskedPath[] {
  if (typeof value === "string") {
    if (!value.includes(maskedValue)) return [];
    const [, name = path] = variable.exec(value) ?? [];
    return [{ path, keys, value, name }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => pathsIn(item, itemPath(path, at), [...keys, at]));
  }
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    pathsIn(item, keyPath(path, key), [...keys, key]),
  );
}

function masked(value: Json, path: string, isSecret: boolean): Json {
  if (shownAnyway.includes(path)) return value;
  if (typeof value === "string") return isSecret && value !== "" ? maskedValue : maskedText(value);
  if (typeof value === "number") return isSecret && neverNumber(path) ? maskedValue : value;
  if (Array.isArray(value)) {
    return value.map((item, at) => masked(item, itemPath(path, at), isSecret));
  }
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const inside = keyPath(path, key);
      return [key, masked(item, inside, isSecret || isSecretPath(inside) || isSecretName(key))];
    }),
  );
}

/** A text that is not itself a secret may contain one. */
export function maskedText(text: string): string {
  const [, name = "", value = ""] = variable.exec(text) ?? [];
  if (name !== "" && isSecretName(name)) return `${name}=${maskedValue}`;
  return name === "" ? withoutPasswords(text) : `${name}=${withoutPasswords(value)}`;
}

const withoutPasswords = (text: string): string =>
  text.replace(passwordInUrl, `$1${maskedValue}`).replace(tokenInUrl, `$1${maskedValue}`);

const isSecretPath = (path: string): boolean =>
  pathsOfSecrets.some((keys) => keys.join(".") === path);

function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  return words.some(
    (word, at) =>
      secretWords.has(word) ||
      (word === "key" && keyKinds.has(words[at - 1] ?? "")) ||
      (word === "pat" && at > 0),
  );
}

const neverNumber = (path: string): boolean =>
  wordsOf(path.slice(path.lastIndexOf(".") + 1)).some((word) => neverNumbers.has(word));

/** Splits a name into words: `HF_TOKEN`, `hfToken` and `hf-token` are the same two words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}
