/**
 * Masks the secrets of a webhook in what its receiver answered and in what its connection reported: a receiver may
 * return the request with its address, headers and signatures.
 */

export type WebhookSecrets = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly oldSecret: string | null;
};

const mask = "********";

/** Shorter values, and shorter parts of a value, are no secrets, and occur in any text. */
const shortest = 4;
const shortestPart = 8;

/** Returns a function that masks the secrets in a text that may be cut off. */
export function maskerOf(webhook: WebhookSecrets): (text: string) => string {
  const forms = new Set(secretsOf(webhook).flatMap(formsOf));
  // A long secret may contain a shorter one.
  const secrets = [...forms]
    .filter(({ length }) => length >= shortest)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let shown = text;
    for (const secret of secrets) shown = shown.replaceAll(secret, mask);
    return withoutCutSecret(shown, secrets);
  };
}

/** Returns everything of the URL behind its host, the headers' values, and the secrets. */
function secretsOf({ url, headers, secret, oldSecret }: WebhookSecrets): readonly string[] {
  const { username, password, pathname, search, hash, searchParams } = new URL(url);
  const values = Object.values(headers);
  const words = values.flatMap((one) => one.split(" "));
  const parts = [...pathname.split("/"), ...searchParams.values(), ...words];
  const signing = [secret, oldSecret ?? ""].flatMap((one) => [one, one.replace(/^whsec_/, "")]);
  return [
    ...[url, username, password, pathname, search, hash, `${pathname}${search}`],
    ...parts.filter(({ length }) => length >= shortestPart),
    ...[...signing, ...values],
  ];
}

/** Returns the forms in which programs print a text. */
function formsOf(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [text, encodeURI(text), encodeURIComponent(text), decoded(text), quoted];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone percent sign is no encoding.
  }
}

/** Masks the beginning of a secret at the end of the text: only the beginning of an answer is read. */
function withoutCutSecret(text: string, secrets: readonly string[]): string {
  let cut = 0;
  for (const secret of secrets) {
    for (let length = Math.min(secret.length, text.length); length >= shortest; length -= 1) {
      if (length <= cut) break;
      if (text.endsWith(secret.slice(0, length))) cut = length;
    }
  }
  return cut === 0 ? text : `${text.slice(0, text.length - cut)}${mask}`;
}
