import pg, { type ClientConfig, type QueryArrayConfig } from "pg";
import { logLimits } from "../limits.ts";
import { wasAnswered } from "./faults.ts";

export type ConnectionConfig = {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  readonly password?: string | (() => Promise<string> | string);
  readonly ssl?: ClientConfig["ssl"];
  /** The name in pg_stat_activity. */
  readonly applicationName?: string;
  /** The time after which the server cancels a statement; default: the limit. */
  readonly statementTimeoutMs?: number;
};

const bigintOid = 20;

/** Positions and counts stay below 2^53, so they are parsed as numbers. */
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary"): unknown =>
    oid === bigintOid && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

export function clientConfig(config: ConnectionConfig): ClientConfig {
  const { applicationName, statementTimeoutMs, ...rest } = config;
  return {
    ...rest,
    types,
    application_name: applicationName ?? "trainyard",
    connectionTimeoutMillis: logLimits.connectTimeoutMs,
    statement_timeout: statementTimeoutMs ?? logLimits.statementTimeoutMs,
    query_timeout: logLimits.answerTimeoutMs,
    keepAlive: true,
  };
}

/** The connection of statements that take what they take. */
export const withoutTimeLimits = (config: ClientConfig): ClientConfig => ({
  ...config,
  // A limit that the operator gave the role does not count either.
  options: "-c statement_timeout=0",
  statement_timeout: 0,
  query_timeout: 0,
  keepAliveInitialDelayMillis: logLimits.keepAliveMs,
});

/** One connection for one purpose, opened on first use and again after a failure. */
export class LazyConnection {
  readonly #config: ClientConfig;
  #client: Promise<pg.Client> | undefined;
  /** The client of `#client`, set before it is connected. */
  #current: pg.Client | undefined;
  #closed = false;

  constructor(config: ClientConfig) {
    this.#config = config;
  }

  async query<Row extends unknown[]>(query: QueryArrayConfig): Promise<Row[]> {
    const client = await this.#connected();
    try {
      const result = await client.query<Row>(query);
      return result.rows;
    } catch (error) {
      if (!wasAnswered(error)) this.#drop(client);
      throw error;
    }
  }

  #connected(): Promise<pg.Client> {
    if (this.#closed) return Promise.reject(new Error("the log was closed"));
    if (this.#client !== undefined) return this.#client;
    const client = new pg.Client(this.#config);
    const connected = client.connect().then(() => client);
    const forget = (): void => {
      if (this.#current !== client) return;
      this.#client = undefined;
      this.#current = undefined;
    };
    // Without a listener, an error between two queries would stop the process.
    client.on("error", forget);
    client.once("end", forget);
    connected.catch(forget);
    this.#client = connected;
    this.#current = client;
    return connected;
  }

  /**
   * Drops a client after an error that left its state unknown. A newer client, which another query may have opened,
   * stays.
   */
  #drop(client: pg.Client): void {
    if (this.#current === client) {
      this.#client = undefined;
      this.#current = undefined;
    }
    client.connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = undefined;
    const connected = await client?.catch(() => undefined);
    await connected?.end().catch(() => {}); // The connection may have closed already.
  }
}
