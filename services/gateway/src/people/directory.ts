/**
 * The names of the users, in memory: events and documents have ids, answers and filters have names. The directory reads
 * a user's row again when an event of the user was seen, so every replica has a new name within a second.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import { authidOf, localUser, userOf } from "@trainyard/access";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf, type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import { Named, namedSentence } from "./named.ts";

const userPrefix = authidOf("");

export class UserDirectory {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #names = new Map<string, string>();
  /** The ids by the names in lower case. */
  readonly #ids = new Map<string, string>();
  readonly #named = new Named(this);

  constructor({ pool, logger, clock }: { pool: Pool; logger: Logger; clock: Clock }) {
    this.#pool = pool;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Reads all names, after the migrations. */
  async prepare(): Promise<void> {
    await this.#read("");
  }

  observed({ stream }: Pick<StoredEvent, "stream">): void {
    if (!stream.startsWith("user-")) return;
    void this.#reread(idOf(stream));
  }

  /** Whether no user but the service account `local` has a name. */
  get isEmpty(): boolean {
    return this.#names.size === Number(this.#names.has(localUser));
  }

  /** Returns the name of an owner or actor that events record; the text itself if it is no user. */
  nameOf(authid: string): string {
    if (!authid.startsWith(userPrefix)) return authid;
    return this.#names.get(userOf(authid)) ?? authid;
  }

  /** Returns how events record the user with a name; the text itself if no user has it. */
  authidOf(name: string): string {
    const id = this.#ids.get(name.toLowerCase());
    return id === undefined ? name : authidOf(id);
  }

  /** Returns a message of the API with the names of persons instead of their ids. */
  named<Message extends object>(descriptor: DescMessage, message: Message): Message {
    return this.#named.of(descriptor, message);
  }

  /** Returns a sentence with the names of the persons in it. */
  namedSentence(text: string): string {
    return namedSentence(this, text);
  }

  /** Sets a name that this replica has just written. */
  set(id: string, name: string): void {
    const old = this.#names.get(id);
    if (old !== undefined && this.#ids.get(old.toLowerCase()) === id) {
      this.#ids.delete(old.toLowerCase());
    }
    this.#names.set(id, name);
    this.#ids.set(name.toLowerCase(), id);
  }

  async #reread(id: string): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1) {
      try {
        return await this.#read(id);
      } catch (error) {
        this.#logger.warn({ err: error, user: id }, "user_name_unread");
        await pause(this.#clock, 1_000);
      }
    }
  }

  async #read(id: string): Promise<void> {
    const { rows } = await this.#pool.query<{ id: string; name: string }>(
      "select id, name from gateway.users where $1 = '' or id = $1",
      [id],
    );
    for (const row of rows) this.set(row.id, row.name);
  }
}
