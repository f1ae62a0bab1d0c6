import { randomBytes } from "node:crypto";
import { newApiToken } from "@trainyard/kernel/api-token";
import { services } from "@trainyard/kernel/services";

export const kindsOfKeys = ["run-token-key", "first-token", "postgres"] as const;

export type KindOfKey = (typeof kindsOfKeys)[number];

/** Returns new values by the keys of the Secret; `postgres` has the password of each service's role. */
export function newKeys(kinds: readonly KindOfKey[]): Readonly<Record<string, string>> {
  return Object.fromEntries(kinds.flatMap((kind) => valuesOf(kind)));
}

function valuesOf(kind: KindOfKey): readonly (readonly [string, string])[] {
  switch (kind) {
    case "run-token-key":
      return [[kind, randomBytes(32).toString("hex")]];
    case "first-token":
      return [[kind, newApiToken().text]];
    case "postgres":
      return services.map(({ name }) => [
        `postgres-${name}`,
        randomBytes(24).toString("base64url"),
      ]);
  }
}
