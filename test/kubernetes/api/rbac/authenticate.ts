// Users by bearer token. Tokens of service accounts are JWTs that end with their account. Source: docs,
// "Authenticating", "Managing Service Accounts".
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MemoryStore } from "../store/memory-store.ts";

export type User = { name: string; groups: readonly string[] };

export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
export const ADMIN: User = {
  name: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
};

export class Tokens {
  readonly admin = randomBytes(24).toString("base64url");
  readonly #key = randomBytes(32);
  readonly #users = new Map<string, User>([[this.admin, ADMIN]]);
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** A token of a user that no service account is. */
  add(user: User): string {
    const token = randomBytes(24).toString("base64url");
    this.#users.set(token, { ...user, groups: [...user.groups, "system:authenticated"] });
    return token;
  }

  issue(namespace: string, name: string, seconds: number): string {
    const account = this.#store.get("serviceaccounts", namespace, name);
    const issued = Math.floor(Date.now() / 1000);
    const claims = {
      aud: ["https://kubernetes.default.svc.cluster.local"],
      exp: issued + seconds,
      iat: issued,
      iss: "https://kubernetes.default.svc.cluster.local",
      "kubernetes.io": { namespace, serviceaccount: { name, uid: account?.metadata.uid } },
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const text = [{ alg: "HS256", kid: "test" }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    return `${text}.${this.#sign(text)}`;
  }

  /** Null for a token that is unknown, has expired, or whose account is gone. */
  userOf(token: string): User | null {
    const known = this.#users.get(token);
    if (known) return known;
    const [header, payload, signature = ""] = token.split(".");
    if (!payload) return null;
    const expected = Buffer.from(this.#sign(`${header}.${payload}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const { namespace, serviceaccount } = claims["kubernetes.io"];
    const account = this.#store.get("serviceaccounts", namespace, serviceaccount.name);
    if (account?.metadata.uid !== serviceaccount.uid || claims.exp * 1000 < Date.now()) return null;
    return {
      name: claims.sub,
      groups: [
        "system:serviceaccounts",
        `system:serviceaccounts:${namespace}`,
        "system:authenticated",
      ],
    };
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}
