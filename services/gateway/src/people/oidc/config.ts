import { Fault } from "@trainyard/kernel";
import { wrongSettings } from "@trainyard/runtime";
import { z } from "zod";
import { isReadable } from "./secret-file.ts";

const variable = "TRAINYARD_OIDC_PROVIDERS";

/** The variables of sign-in by identity providers, for the zod schema of the service. */
export const oidcVariables = {
  /** The providers as a JSON list (docs/operate/sign-in.md). */
  [variable]: z.string().default("[]"),
};

const provider = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
    error: "must be 1 to 40 lower-case letters, digits and hyphens",
  }),
  name: z.string().min(1).max(60),
  issuer: z.string().refine(isIssuer, {
    error: "must be an https address without a query; http only on this machine",
  }),
  client_id: z.string().min(1),
  client_secret_file: z
    .string()
    .refine(isReadable, { error: "must be a file that this process can read" })
    .optional(),
  scopes: z
    .string()
    .default("openid profile email")
    .refine((scopes) => scopes.split(" ").includes("openid"), {
      error: "must have openid, such as openid profile email",
    }),
  create_users_claim: z.string().min(1).optional(),
  create_users_value: z.string().min(1).optional(),
  groups_claim: z.string().min(1).optional(),
  name_claim: z.string().min(1).default("preferred_username"),
});

export type ProviderSettings = {
  /** The part of the path by which a sign-in begins. */
  readonly id: string;
  /** The name on the button. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a client without a secret. The file is read for each sign-in, since secrets are renewed. */
  readonly secretFile: string | null;
  readonly scopes: string;
  /** The claim that lets a first sign-in create a user; null for none. */
  readonly creating: { readonly claim: string; readonly value: string } | null;
  readonly groupsClaim: string | null;
  readonly nameClaim: string;
};

/** Returns the providers. Throws a Fault in one sentence. */
export function providersOf(
  env: z.output<z.ZodObject<typeof oidcVariables>>,
): readonly ProviderSettings[] {
  const parsed = z.array(provider).safeParse(json(env[variable]));
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" };
    throw wrong([variable, ...path].join("."), message);
  }
  const ids = parsed.data.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw wrong(variable, `has two providers with the id ${twice}`);
  return parsed.data.map((one) => ({
    ...{ id: one.id, name: one.name, issuer: one.issuer, clientId: one.client_id },
    ...{ scopes: one.scopes, nameClaim: one.name_claim },
    secretFile: one.client_secret_file ?? null,
    creating: creatingOf(one),
    groupsClaim: one.groups_claim ?? null,
  }));
}

function creatingOf({
  id,
  create_users_claim: claim,
  create_users_value: value,
}: z.output<typeof provider>): ProviderSettings["creating"] {
  if (claim === undefined && value === undefined) return null;
  if (claim !== undefined && value !== undefined) return { claim, value };
  throw wrong(
    variable,
    `has one of create_users_claim and create_users_value for ${id}: set both or none`,
  );
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(variable, "must be a JSON list");
  }
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  if (search !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isOwnHost(hostname));
}

const isOwnHost = (host: string): boolean => ["127.0.0.1", "[::1]", "localhost"].includes(host);

const wrong = (where: string, problem: string): Fault =>
  new Fault(wrongSettings, `environment variables are wrong: ${where}: ${problem}`, {
    retry: "never",
  });
