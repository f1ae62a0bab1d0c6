/**
 * An identity provider by OpenID Connect: the authorization code flow with PKCE, state and nonce (OpenID Connect Core
 * 1.0, RFC 7636, RFC 9700). The signature of an ID token is verified with keys that are read for each sign-in, so that
 * a new key counts at once. The package is loaded at the first sign-in.
 */
import type { Clock } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import type * as openid from "openid-client";
import { Problem } from "../../http/problem.ts";
import type { Claims } from "./claims.ts";
import type { ProviderSettings } from "./config.ts";
import { oidcLimits } from "./limits.ts";
import { readSecret } from "./secret-file.ts";

export type Secrets = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

type Client = typeof openid;

export class Provider {
  readonly settings: ProviderSettings;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #discovered: { readonly server: openid.ServerMetadata; readonly atMs: number } | null = null;

  constructor(settings: ProviderSettings, { clock, logger }: { clock: Clock; logger: Logger }) {
    this.settings = settings;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Returns the provider's address at which a sign-in begins. Throws a Problem of 503 if the provider is away. */
  async begin(redirectUri: string, { state, nonce, verifier }: Secrets): Promise<URL> {
    return this.#asking(async (client) => {
      const configuration = await this.#configuration(client);
      return client.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUri, scope: this.settings.scopes, state, nonce },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
    });
  }

  /**
   * Exchanges the code of a callback, and returns the verified claims. Throws a Problem of 503 if the provider is away,
   * and of 403 if it refuses or its answer is invalid.
   */
  async finish(callback: URL, { state, nonce, verifier }: Secrets): Promise<Claims> {
    return this.#asking(async (client) => {
      const configuration = await this.#configuration(client);
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw this.#invalid("no ID token");
      const apartSeconds = Math.abs(claims.iat - this.#clock.nowMs() / 1_000);
      if (apartSeconds > oidcLimits.clocksApartSeconds) {
        const detail = `the clocks of ${this.settings.name} and of this cluster differ by ${Math.round(apartSeconds)} s; the maximum is ${oidcLimits.clocksApartSeconds} s`;
        throw new Problem(403, "clocks_apart", detail);
      }
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
      if (this.#isComplete(claims) || !hasUserInfo) return claims;
      const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return { ...more, ...claims };
    });
  }

  /** Whether an ID token has all claims that are read; others may be at the userinfo endpoint. */
  #isComplete(claims: object): boolean {
    const { creating, groupsClaim, nameClaim } = this.settings;
    return [creating?.claim, groupsClaim, nameClaim].every(
      (claim) => claim === undefined || claim === null || claim in claims,
    );
  }

  /** Returns a new configuration, which has no keys of earlier sign-ins. */
  async #configuration(client: Client): Promise<openid.Configuration> {
    const { clientId, issuer } = this.settings;
    const server = await this.#server(client);
    const auth = await this.#authentication(client, server);
    const metadata = { [client.clockTolerance]: oidcLimits.clocksApartSeconds };
    const configuration = new client.Configuration(server, clientId, metadata, auth);
    configuration.timeout = oidcLimits.answerSeconds;
    client.enableNonRepudiationChecks(configuration);
    if (issuer.startsWith("http:")) client.allowInsecureRequests(configuration);
    return configuration;
  }

  async #server(client: Client): Promise<openid.ServerMetadata> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#discovered;
    if (known !== null && nowMs - known.atMs < oidcLimits.discoveryMs) return known.server;
    const { clientId, issuer } = this.settings;
    const found = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      timeout: oidcLimits.answerSeconds,
      execute: issuer.startsWith("http:") ? [client.allowInsecureRequests] : [],
    });
    const server = found.serverMetadata();
    this.#discovered = { server, atMs: nowMs };
    return server;
  }

  async #authentication(client: Client, server: openid.ServerMetadata): Promise<openid.ClientAuth> {
    const { secretFile } = this.settings;
    if (secretFile === null) return client.None();
    const secret = await readSecret(secretFile);
    // Servers that name no method accept this one (OpenID Connect Discovery 1.0, section 3).
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return methods.includes("client_secret_basic")
      ? client.ClientSecretBasic(secret)
      : client.ClientSecretPost(secret);
  }

  async #asking<Result>(ask: (client: Client) => Promise<Result>): Promise<Result> {
    try {
      return await ask(await import("openid-client"));
    } catch (error) {
      if (error instanceof Problem) throw error;
      const { id, name } = this.settings;
      if (isAway(error)) {
        this.#logger.warn({ err: error, provider: id }, "identity_provider_away");
        throw new Problem(503, "provider_away", `${name} does not answer now; try again later`);
      }
      this.#logger.warn({ err: error, provider: id }, "sign_in_refused");
      throw this.#invalid(reasonOf(error));
    }
  }

  #invalid(reason: string): Problem {
    const detail = `the sign-in by ${this.settings.name} was refused (${reason}); begin again`;
    return new Problem(403, "sign_in_refused", detail);
  }
}

/** Whether an error, or one of its causes, says that no answer came, or one of a server that failed. */
function isAway(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; depth += 1) {
    const isUnanswered = one instanceof TypeError && one.message === "fetch failed";
    if (isUnanswered || one.name === "TimeoutError" || one.name === "AbortError") return true;
    const { cause } = one;
    if (cause instanceof Response && cause.status >= 500) return true;
    one = cause;
  }
  return false;
}

/** Returns the code of an error of the protocol, such as access_denied. */
function reasonOf(error: unknown): string {
  const { error: code, code: other } = error as {
    readonly error?: unknown;
    readonly code?: unknown;
  };
  const reason = [code, other].find((one) => typeof one === "string") ?? "invalid answer";
  return String(reason).slice(0, 60);
}
