/**
 * Requests to Google Cloud Storage: the bucket, full names, credentials and signatures of Google's client, repeats,
 * Faults. The requests themselves are sent here, so that a store that does not answer is away after the same time
 * whatever is asked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Storage } from "@google-cloud/storage";
import { isFault } from "@trainyard/kernel";
import { checkObjectKey, keyPrefix } from "../keys.ts";
import type { PlannedRequest } from "../port.ts";
import {
  type Failing,
  faultOfAnswer,
  faultOfCredentials,
  faultOfNetwork,
  mayPass,
  type Refusal,
  refusalOf,
} from "./errors.ts";
import type { GcsSettings } from "./options.ts";

export type GcsAsked = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** False for the address of a session, which is its own secret. */
  readonly signed?: boolean;
  /** The store may be silent for so long; `silenceMs` of the settings unless given. */
  readonly silenceMs?: number;
  /** Answers that are no errors, besides 2xx. */
  readonly expected?: readonly number[];
};

export type GcsReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

const firstWaitMs = 100;

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

  /** The name of an object in the bucket. */
  nameOf(key: string): string {
    checkObjectKey(key, this.prefix);
    return this.prefix + key;
  }

  /** The resource of an object of the JSON API, or of all objects. */
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

  /** The key that encrypts, by the name that a request gives it; nothing where the bucket decides. */
  kmsKeyAs(name: string): Readonly<Record<string, string>> {
    const { kmsKey } = this.settings;
    return kmsKey === undefined ? {} : { [name]: kmsKey };
  }

  failing(doing: string, right: string): Failing {
    return { address: this.address, bucket: this.settings.bucket, doing, right };
  }

  /** The answer, with its text; repeated while the store fails in a way that passes. */
  async ask(doing: string, right: string, asked: GcsAsked): Promise<GcsReply> {
    const silence = AbortSignal.timeout.bind(null, asked.silenceMs ?? this.settings.silenceMs);
    return this.#repeat(doing, right, asked.expected ?? [], async (failing) => {
      const response = await this.#send(failing, asked, silence());
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  }

  /** The answer before its content, which is read under the signal. */
  async begin(
    doing: string,
    right: string,
    asked: GcsAsked,
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
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= this.settings.attemptsMax;
      try {
        const reply = await send(failing);
        const isGood = reply.status >= 200 && reply.status < 300;
        if (isGood || expected.includes(reply.status)) return reply;
        const refusal: Refusal = refusalOf(reply.status, reply.text);
        if (isLast || !mayPass(refusal)) throw faultOfAnswer(refusal, failing);
      } catch (error) {
        if (isFault(error)) throw error;
        if (isLast || this.#closing.signal.aborted) throw faultOfNetwork(error, failing);
      }
      await sleep(firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
    }
  }

  async #send(failing: Failing, asked: GcsAsked, silence: AbortSignal): Promise<Response> {
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

  /** Exactly these headers are signed besides the host. */
  async plan(
    method: "GET" | "PUT",
    key: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<PlannedRequest> {
    const { clock, planSeconds, bucket } = this.settings;
    const file = this.#storage.bucket(bucket).file(this.nameOf(key));
    // Signatures are of whole seconds.
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
    // The key is set here because the option `credentials`, which does the same, writes a warning to stderr.
    auth.jsonContent = {
      type: "service_account",
      client_email: credentials.clientEmail,
      private_key: credentials.privateKey,
    };
  }
  // A service account signs its own tokens: no other host is asked for one.
  auth.useJWTAccessWithScope = true;
  return storage;
}
