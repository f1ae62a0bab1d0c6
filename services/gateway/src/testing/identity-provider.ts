/** A real OpenID provider on this machine, in which one person at a time signs in without a form. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

type Claims = Record<string, unknown>;

export type TestProvider = AsyncDisposable & {
  readonly issuer: string;
  /** The subject that signs in, and its claims. */
  person: { sub: string; claims: Claims };
  /** Changes the claims of the ID tokens, which are signed again. */
  alter: (claims: Claims) => Claims;
  /** Opens the provider for the client `trainyard`, with a new signing key. */
  readonly open: (redirectUris: readonly string[]) => void;
  /** Makes the provider sign ID tokens with a key that is not its own. */
  forges: boolean;
  /** Makes every answer one of a server that fails. */
  isAway: boolean;
};

export const clientSecret = "a secret of thirty-two characters";

export async function startIdentityProvider(): Promise<TestProvider> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    if (own.isAway) response.writeHead(503).end();
    else answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own: TestProvider = {
    issuer,
    person: { sub: "1", claims: {} },
    alter: (claims) => claims,
    forges: false,
    isAway: false,
    open: (redirectUris) => {
      answer = answers(own, redirectUris);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return own;
}

function answers(own: TestProvider, redirectUris: readonly string[]): RequestListener {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey: foreignKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const kid = randomBytes(4).toString("hex");
  const provider: Provider = new Provider(own.issuer, {
    clients: [{ client_id: "trainyard", client_secret: clientSecret, redirect_uris: redirectUris }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" }] },
    cookies: { keys: ["a key of cookies"] },
    ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60 },
    features: { devInteractions: { enabled: false } },
    claims: {
      openid: ["sub"],
      profile: ["preferred_username", "groups", "roles"],
      email: ["email", "email_verified"],
    },
    findAccount: async (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ ...own.person.claims, sub }),
    }),
    loadExistingGrant: async ({ oidc: { client, session } }: Consent) => {
      const grant = new provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const { id_token: token } = context.path === "/token" ? context.body : {};
    if (typeof token !== "string") return;
    const [, payload = ""] = token.split(".");
    const claims = own.alter(JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims);
    context.body = {
      ...context.body,
      id_token: signed(claims, kid, own.forges ? foreignKey : privateKey),
    };
  });
  const answer = provider.callback();
  return (request, response) => {
    const login = { accountId: own.person.sub };
    if (!request.url?.startsWith("/interaction/")) answer(request, response);
    else void provider.interactionFinished(request, response, { login });
  };
}

type Consent = {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
};

function signed(claims: Claims, kid: string, key: KeyObject): string {
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const text = `${encoded({ alg: "RS256", kid })}.${encoded(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}
