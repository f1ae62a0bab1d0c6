/** A Secret that is made once: an existing one is never replaced nor changed, because data depends on its values. */
import { Fault } from "@trainyard/kernel";

/** The Secrets of one namespace. */
export interface Secrets {
  readonly namespace: string;
  /** Returns the names of its keys that have a value; null without the Secret. Throws a Fault. */
  keysOf(name: string): Promise<ReadonlySet<string> | null>;
  /** Returns false if a Secret of this name exists. Throws a Fault. */
  create(secret: NewSecret): Promise<boolean>;
}

export type NewSecret = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string>>;
};

export type WantedSecret = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The values of a Secret that does not exist yet. */
  readonly wanted: Readonly<Record<string, string>>;
};

/** Returns a sentence about what was done. Throws a Fault if the existing Secret lacks a key. */
export async function ensureSecret(
  secrets: Secrets,
  { name, labels, wanted }: WantedSecret,
): Promise<string> {
  const place = `the Secret "${name}" in the namespace "${secrets.namespace}"`;
  let present = await secrets.keysOf(name);
  if (present === null) {
    if (await secrets.create({ name, labels, values: wanted })) {
      return `made ${place} with the keys ${Object.keys(wanted).join(", ")}`;
    }
    // Another Job was faster.
    present = await secrets.keysOf(name);
  }
  const missing = Object.keys(wanted).filter((key) => present?.has(key) !== true);
  if (missing.length === 0) return `${place} exists, and stays as it is`;
  const keys = missing.map((key) => `"${key}"`).join(", ");
  const add = missing.map((key) => `"${key}":"VALUE"`).join(",");
  throw new Fault(
    "key_missing",
    `${place} lacks ${missing.length === 1 ? "the key" : "the keys"} ${keys}, and is not changed: add what it lacks with kubectl -n ${secrets.namespace} patch secret ${name} -p '{"stringData":{${add}}}'`,
    { retry: "never" },
  );
}
