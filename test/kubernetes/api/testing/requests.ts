// Requests without a client library, for what kubectl and helm do not send.
import { readFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import type { Fields } from "../object-store.ts";

export type Sent = {
  code: number;
  body: Fields;
  headers: Record<string, string | string[] | undefined>;
};
export type SendOptions = {
  body?: unknown;
  headers?: Record<string, string>;
  /** Null sends no token. */
  token?: string | null;
};

export class Client {
  readonly #url: string;
  readonly #ca: Buffer;
  readonly #token: string;

  constructor(kubeconfig: string) {
    const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as Fields;
    const { cluster } = config.clusters[0];
    this.#url = cluster.server;
    this.#ca = Buffer.from(cluster["certificate-authority-data"], "base64");
    this.#token = config.users[0].user.token;
  }

  /** A body that is no text is sent as JSON. */
  send(method: string, path: string, options: SendOptions = {}): Promise<Sent> {
    const { body, headers = {}, token = this.#token } = options;
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        new URL(path, this.#url),
        {
          method,
          ca: this.#ca,
          headers: {
            accept: "application/json",
            ...(text === undefined ? {} : { "content-length": Buffer.byteLength(text) }),
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...headers,
          },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("end", () => {
            const answer = Buffer.concat(parts).toString();
            const isJson = response.headers["content-type"]?.startsWith("application/json");
            resolve({
              code: response.statusCode ?? 0,
              body: isJson ? (JSON.parse(answer) as Fields) : { text: answer },
              headers: response.headers,
            });
          });
        },
      );
      request.on("error", reject);
      request.end(text);
    });
  }

  /** Collects the events of a watch, until it is closed. */
  watch(path: string): { events: Fields[]; close: () => void; ended: Promise<void> } {
    const events: Fields[] = [];
    const request = httpsRequest(new URL(path, this.#url), {
      ca: this.#ca,
      headers: { authorization: `Bearer ${this.#token}`, accept: "application/json" },
    });
    const ended = new Promise<void>((resolve) => {
      request.on("response", (response) => {
        let rest = "";
        response.on("data", (part: Buffer) => {
          const lines = (rest + part.toString()).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) events.push(JSON.parse(line) as Fields);
        });
        response.on("close", resolve);
      });
      request.on("error", () => resolve());
    });
    request.end();
    return { events, ended, close: () => request.destroy() };
  }
}
