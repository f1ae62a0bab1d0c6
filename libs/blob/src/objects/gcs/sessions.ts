/**
 * Uploads of large files by clients without credentials, through resumable sessions: a session's address accepts the
 * bytes from where the store's copy ends. The platform announces the MD5 when it begins the session, and the store
 * compares it at the end, so the address can store only the announced file.
 *
 * The store cannot list sessions, so each unfinished file's session is recorded in an object below
 * `.trainyard-uploads/`. If several planners begin at the same time, one of them records its session, and the others
 * use it.
 */
import { isFault } from "@trainyard/kernel";
import { away, uploadIncomplete } from "../faults.ts";
import type { FileDigests, PlannedPart } from "../port.ts";
import type { GcsConnection } from "./connection.ts";

/** The prefix of session objects; keys below it are never files. */
export const sessionsBelow = ".trainyard-uploads/";

type Session = {
  readonly address: string;
  readonly bytes: number;
  /** The SHA-256 of the file. */
  readonly sha256: string;
  /** The generation of the session's object. */
  readonly generation: string;
};

const right = "storage.objects.create, storage.objects.delete";

export class GcsSessions {
  readonly #connection: GcsConnection;

  constructor(connection: GcsConnection) {
    this.#connection = connection;
  }

  /** Returns the bytes left to send, as one part; no part if all bytes were sent. */
  async plan(key: string, file: FileDigests): Promise<readonly PlannedPart[]> {
    let kept = await this.#kept(key);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (kept !== null && kept.sha256 === file.sha256 && kept.bytes === file.bytes) {
        const offset = await this.#sent(key, kept);
        if (offset === file.bytes) return [];
        if (offset !== null) return [this.#part(kept, offset)];
      }
      const begun = await this.#replace(key, kept, file);
      if (begun !== null) return [this.#part(begun, 0)];
      kept = await this.#kept(key);
    }
    throw uploadIncomplete(key, "several planners begin it at the same time");
  }

  #part({ address, bytes }: Session, offset: number): PlannedPart {
    const { clock, planSeconds } = this.#connection.settings;
    const headers = {
      "content-length": String(bytes - offset),
      "content-range": `bytes ${offset}-${bytes - 1}/${bytes}`,
    };
    const expiresAtMs = clock.nowMs() + planSeconds * 1_000;
    const request = {
      method: "PUT",
      url: address,
      headers,
      accepted: [200, 201],
      expiresAtMs,
    } as const;
    return { offset, bytes: bytes - offset, request };
  }

  /** Returns how many bytes the store has; null if the session is over. */
  async #sent(key: string, { address, bytes }: Session): Promise<number | null> {
    const reply = await this.#connection.ask(`ask how much it has of ${key}`, right, {
      method: "PUT",
      url: address,
      headers: { "content-range": `bytes */${bytes}` },
      body: "",
      signed: false,
      expected: [308, 400, 404, 410, 499],
    });
    if (reply.status === 200 || reply.status === 201) return bytes;
    if (reply.status !== 308) return null;
    const [, last] = /^bytes=0-(\d+)$/.exec(reply.headers.get("range") ?? "") ?? [];
    return last === undefined ? 0 : Number(last) + 1;
  }

  async #kept(key: string): Promise<Session | null> {
    const name = this.#connection.nameOf(sessionsBelow + key);
    const readRight = "storage.objects.get; of an absent object also storage.objects.list";
    const reply = await this.#connection.ask(`look for the upload of ${key}`, readRight, {
      method: "GET",
      url: this.#connection.urlOf(name, { alt: "media" }),
      expected: [404],
    });
    if (reply.status === 404) return null;
    const generation = reply.headers.get("x-goog-generation") ?? "0";
    return { ...readSession(reply.text, this.#connection), generation };
  }

  /** Begins a session and records it in place of the previous one; null if another planner was faster. */
  async #replace(key: string, before: Session | null, file: FileDigests): Promise<Session | null> {
    const address = await this.#begin(key, file);
    const { bytes, sha256 } = file;
    const name = this.#connection.nameOf(sessionsBelow + key);
    const ifGenerationMatch = before?.generation ?? "0";
    const reply = await this.#connection.ask(`keep the upload of ${key}`, right, {
      method: "POST",
      url: this.#connection.uploadUrl({ uploadType: "media", name, ifGenerationMatch }),
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ address, bytes, sha256 }),
      expected: [412],
    });
    if (reply.status === 412) {
      await this.#cancel(address);
      return null;
    }
    if (before !== null) await this.#cancel(before.address);
    const { generation } = JSON.parse(reply.text) as { generation: string };
    return { address, bytes, sha256, generation };
  }

  async #begin(key: string, file: FileDigests): Promise<string> {
    const name = this.#connection.nameOf(key);
    const reply = await this.#connection.ask(
      `begin an upload of ${key}`,
      "storage.objects.create",
      {
        method: "POST",
        url: this.#connection.uploadUrl({ uploadType: "resumable", name }),
        headers: {
          "content-type": "application/json",
          "x-upload-content-type": "application/octet-stream",
          "x-upload-content-length": String(file.bytes),
        },
        body: JSON.stringify({ md5Hash: file.md5 }),
      },
    );
    const address = reply.headers.get("location") ?? "";
    if (address !== "") return address;
    const why = "its answer has no location header, which is where the bytes go";
    throw away(this.#connection.address, `begin an upload of ${key}`, why);
  }

  /** Errors are ignored: the store also deletes an unused session after a week. */
  async #cancel(address: string): Promise<void> {
    if (address === "") return;
    try {
      await this.#connection.ask("cancel an upload", right, {
        method: "DELETE",
        url: address,
        signed: false,
        expected: [400, 404, 410, 499],
      });
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  /** Cancels and deletes a key's session, after its file is stored or given up. */
  async forget(key: string): Promise<void> {
    const kept = await this.#kept(key);
    if (kept === null) return;
    await this.#cancel(kept.address);
    const name = this.#connection.nameOf(sessionsBelow + key);
    await this.#connection.ask(`forget the upload of ${key}`, "storage.objects.delete", {
      method: "DELETE",
      url: this.#connection.urlOf(name),
      expected: [404],
    });
  }
}

/**
 * Parses a stored session. A session with an unexpected address or form counts as over: a person who can write to the
 * bucket must not choose where the platform sends requests.
 */
function readSession(text: string, connection: GcsConnection): Omit<Session, "generation"> {
  const over = { address: "", bytes: -1, sha256: "" };
  try {
    const { address, bytes, sha256 } = JSON.parse(text) as Record<string, unknown>;
    const isOne =
      typeof address === "string" &&
      typeof bytes === "number" &&
      typeof sha256 === "string" &&
      isOfStore(address, connection.uploadUrl({}));
    return isOne ? { address, bytes, sha256 } : over;
  } catch {
    return over;
  }
}

/** Google may return a session address with another googleapis.com host than the requested one. */
const googles = /^https:\/\/(?:[a-z0-9-]+\.)*googleapis\.com$/;

function isOfStore(address: string, uploadUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const [found, own] = [new URL(address), new URL(uploadUrl)];
  const isGoogles = googles.test(found.origin) && googles.test(own.origin);
  return (found.origin === own.origin || isGoogles) && found.pathname === own.pathname;
}
