/**
 * Requests to Google Cloud Storage: object names, credentials, signatures, retries and Faults. The vendor's client only
 * signs. Requests are sent from here, so that every request to a silent store times out after the same time.
 */
import { Storage } from "@google-cloud/storage";
import { isFault, retrying } from "@trainyard/kernel";
import { away } from "../faults.ts";
import { checkObjectKey, keyPrefix } from "../keys.ts";
import type { PlannedRequest } from "../port.ts";
import {
  type Failing,
  faultOfAnswer,
  faultOfCredentials,
  faultOfNetwork,
  refusalOf,
} from "./errors.ts";
import type { GcsSettings } from "./options.ts";

export type GcsRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** False for a session's address, which is itself a secret. */
  readonly signed?: boolean;
  /** The time without an answer after which the request times out; default: `silenceMs` of the settings. */
  readonly silenceMs?: number;
  /** Statuses besides 2xx that do not count as errors. */
  readonly expected?: readonly number[];
};

export type GcsReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

const retryPolicy = { firstMs: 75, lastMs: 5_000, spread: 1 / 3 };

export class GcsConnection {
  readonly settings: GcsSettings;
  readonly address: string;
  readonly prefix: string;
  readonly #storage: Storage;
  readonly #closing = new AbortController();

  constructor(settings: GcsSettings) {
    this.settings = settings;
    this.prefix = keyPrefix(settings.prefix);
    this.address = `gs://${settings.bucket}/${this.prefix}`.replace(/\/$/, "");
    this.#storage = clientOf(settings);
  }

  destroy(): void {
    this.#closing.abort();
  }

  /** Returns the full object name of a key. */
  nameOf(key: string): string {
    checkObjectKey(key, this.prefix);
    return this.prefix + key;
  }

  /** Returns the JSON API's URL of an object; of the object list if the name is null. */
  urlOf(name: string | null, query: Readonly<Record<string, string>> = {}): string {
    const { endpoint, bucket } = this.settings;
    const object = name === null ? "" : `/${encodeURIComponent(name)}`;
    const params = new URLSearchParams(query).toString();
    const url = `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o${object}`;
    return params === "" ? url : `${url}?${params}`;
  }

  uploadUrl(query: Readonly<Record<string, string>>): string {
    const { endpoint, bucket } = this.settings;
    const params = new URLSearchParams({ ...query, ...this.kmsKeyAs("kmsKeyName") }).toString();
    return `${endpoint}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?${params}`;
  }

  /** Returns the Cloud KMS key as the given request field; nothing if the bucket's default applies. */
  kmsKeyAs(name: string): Readonly<Record<string, string>> {
    const { kmsKey } = this.settings;
    return kmsKey === undefined ? {} : { [name]: kmsKey };
  }

  failing(doing: string, right: string): Failing {
    return { address: this.address, bucket: this.settings.bucket, doing, right };
  }

  /** Sends a request and returns the answer with its text. Transient failures are retried. */
  async ask(doing: string, right: string, asked: GcsRequest): Promise<GcsReply> {
    const silence = AbortSignal.timeout.bind(null, asked.silenceMs ?? this.settings.silenceMs);
    return this.#repeat(doing, right, asked.expected ?? [], async (failing) => {
      const response = await this.#send(failing, asked, silence());
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  }

  /**
   * Sends a request and returns the response before its content is read; null for 404. The signal also covers the
   * reading of the content.
   */
  async begin(
    doing: string,
    right: string,
    asked: GcsRequest,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const { expected = [] } = asked;
    let response: Response | null = null;
    const reply = await this.#repeat(doing, right, expected, async (failing) => {
      const last = await this.#send(failing, asked, signal);
      response = last;
      const { status, headers } = last;
      return { status, headers, text: last.ok ? "" : await last.text() };
    });
    return reply.status === 404 ? null : response;
  }

  async #repeat(
    doing: string,
    right: string,
    expected: readonly number[],
    send: (failing: Failing) => Promise<GcsReply>,
  ): Promise<GcsReply> {
    const failing = this.failing(doing, right);
    const { clock, attemptsMax } = this.settings;
    let attempts = 0;
    const failed = (error: unknown): void => {
      attempts += 1;
      if (attempts >= attemptsMax || (isFault(error) && error.retry === "never")) throw error;
    };
    const { signal } = this.#closing;
    const reply = await retrying({ policy: retryPolicy, clock, signal, failed }, async () => {
      const answer = await send(failing).catch((error: unknown) => {
        throw isFault(error) ? error : faultOfNetwork(error, failing);
      });
      const { status, text } = answer;
      if ((status >= 200 && status < 300) || expected.includes(status)) return answer;
      throw faultOfAnswer(refusalOf(status, text), failing);
    });
    if (reply === undefined) throw away(this.address, doing, "this connection is closed");
    return reply;
  }

  async #send(failing: Failing, asked: GcsRequest, silence: AbortSignal): Promise<Response> {
    const { method, url, body, signed = true } = asked;
    const headers = new Headers(asked.headers);
    if (signed) {
      const authorised = await this.#authorisation(failing, url);
      for (const [name, value] of authorised) headers.set(name, value);
    }
    const signal = AbortSignal.any([silence, this.#closing.signal]);
    const options = { method, headers, signal, redirect: "manual" } as const;
    return fetch(url, body === undefined ? options : { ...options, body: Buffer.from(body) });
  }

  async #authorisation(failing: Failing, url: string): Promise<Headers> {
    try {
      return new Headers(await this.#storage.authClient.getRequestHeaders(url));
    } catch (error) {
      throw faultOfCredentials(error, failing);
    }
  }

  /** Exactly the given headers are signed, besides the host. */
  async plan(
    method: "GET" | "PUT",
    key: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<PlannedRequest> {
    const { clock, planSeconds, bucket } = this.settings;
    const file = this.#storage.bucket(bucket).file(this.nameOf(key));
    // Signatures have whole seconds.
    const fromMs = Math.floor(clock.nowMs() / 1_000) * 1_000;
    const expiresAtMs = fromMs + planSeconds * 1_000;
    try {
      const [url] = await file.getSignedUrl({
        version: "v4",
        action: method === "GET" ? "read" : "write",
        accessibleAt: new Date(fromMs),
        expires: new Date(expiresAtMs),
        extensionHeaders: { ...headers },
      });
      return { method, url, headers, accepted: [200], expiresAtMs };
    } catch (error) {
      throw faultOfCredentials(error, this.failing("sign a request", "credentials"));
    }
  }
}

function clientOf({ endpoint, credentials }: GcsSettings): Storage {
  const storage = new Storage({ apiEndpoint: endpoint, useAuthWithCustomEndpoint: true });
  const auth = storage.authClient;
  if (credentials !== undefined) {
    // The key is set here because the equivalent option `credentials` writes a warning to stderr.
    auth.jsonContent = {
      type: "service_account",
      client_email: credentials.clientEmail,
      private_key: credentials.privateKey,
    };
  }
  // The service account signs its own tokens, so no token server is needed.
  auth.useJWTAccessWithScope = true;
  return storage;
}
