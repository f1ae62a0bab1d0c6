/**
 * A connection that restores itself: this class dials until an attempt succeeds, and again whenever a connection ends,
 * with growing waits. An attachment (for example a subscription) is set up again on every new connection.
 *
 *   dialling ──connected──► up ──ended──► dialling;   closed from anywhere
 */
import { errors, type NatsConnection, type Status } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { atMost, type Fault, pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { busAway, callbackThrew, loginRefused, notPermitted, serverProblem } from "../faults.ts";
import { busLimits } from "../limits.ts";
import { ReconnectWaits } from "./reconnect-waits.ts";

export type LinkConfig = {
  readonly servers: string | readonly string[];
  readonly name: string;
  readonly user?: string;
  readonly password?: string;
  readonly inboxPrefix: string;
  readonly dialWaitLastMs?: number;
  readonly onProblem: (problem: Fault) => void;
};

type Attachment = (connection: NatsConnection) => void;
type Refusal = { readonly operation: string; readonly subject: string };

export class Link implements AsyncDisposable {
  readonly #config: LinkConfig;
  readonly #attachments = new Set<Attachment>();
  readonly #connectionCallbacks = new Set<(connected: boolean) => void>();
  readonly #refusalCallbacks = new Set<(refusal: Refusal) => void>();
  readonly #closing = new AbortController();
  readonly #waits: ReconnectWaits;
  #connection: NatsConnection | null = null;
  /** `host:port` of the cluster's members, as reported by the last connection's server. */
  #members: readonly string[] = [];
  #up = false;
  #loginRefused = false;
  /** The reason of the last failed attempt to connect. */
  #failure = "";
  #firstTry: () => void = () => {};
  #keeping: Promise<void> = Promise.resolve();

  private constructor(config: LinkConfig) {
    this.#config = config;
    this.#waits = new ReconnectWaits(config.dialWaitLastMs ?? busLimits.dialWaitLastMs);
  }

  /** Resolves with the first connection, or after `firstConnectMs` without one. */
  static async open(config: LinkConfig): Promise<Link> {
    const link = new Link(config);
    const tried = new Promise<void>((resolve) => {
      link.#firstTry = resolve;
    });
    link.#keeping = link.#keep();
    await atMost(systemClock, busLimits.firstConnectMs, tried);
    return link;
  }

  get up(): boolean {
    // The client reports a connection's end with a delay, so its state is checked too.
    return this.#up && this.#connection?.isClosed() === false;
  }

  /** Returns why the link is down; null while it is up. */
  get outage(): string | null {
    if (this.up) return null;
    const servers = serversToDial(this.#config.servers, []).map((url) => url.replace(/^.*@/, ""));
    return this.#failure === "" ? `${servers.join(", ")} does not answer` : this.#failure;
  }

  /** Returns the connection while it is up; throws a Fault `bus_away` otherwise. */
  connection(): NatsConnection {
    if (!this.up || this.#connection === null) throw busAway();
    return this.#connection;
  }

  /** Runs the attachment on the current connection, if any, and on every new one. */
  attach(attachment: Attachment): Disposable {
    if (this.#connection?.isClosed() === false) attachment(this.#connection);
    this.#attachments.add(attachment);
    return { [Symbol.dispose]: () => void this.#attachments.delete(attachment) };
  }

  onConnection(callback: (connected: boolean) => void): Disposable {
    this.#connectionCallbacks.add(callback);
    return { [Symbol.dispose]: () => void this.#connectionCallbacks.delete(callback) };
  }

  /** Registers a callback for subjects that the server refuses to this user. */
  onRefusal(callback: (refusal: Refusal) => void): Disposable {
    this.#refusalCallbacks.add(callback);
    return { [Symbol.dispose]: () => void this.#refusalCallbacks.delete(callback) };
  }

  /**
   * Resolves when the server has received everything sent before, or the link is lost; immediately while it is down.
   */
  async settled(): Promise<void> {
    if (!this.up || this.#connection === null) return;
    // The client never settles a flush whose connection ends. The next connection sets up the attachments again.
    const lost = Promise.withResolvers<void>();
    using _watched = this.onConnection((up) => {
      if (!up) lost.resolve();
    });
    await Promise.race([this.#connection.flush().catch(() => {}), lost.promise]);
  }

  async #keep(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const connection = await this.#dial();
      if (connection === null) {
        await pause(systemClock, this.#waits.next(), this.#closing.signal);
        continue;
      }
      this.#waits.reset();
      this.#connection = connection;
      this.#learnMembers();
      for (const attachment of this.#attachments) this.#run(attachment, connection);
      const watched = this.#watch(connection.status());
      this.#setUp(true);
      this.#firstTry();
      await connection.closed();
      await watched;
      this.#connection = null;
      this.#setUp(false);
      await pause(systemClock, this.#waits.next(), this.#closing.signal);
    }
  }

  #run(attachment: Attachment, connection: NatsConnection): void {
    try {
      attachment(connection);
    } catch (error) {
      this.#config.onProblem(callbackThrew("subscribing on a new connection", error));
    }
  }

  async #dial(): Promise<NatsConnection | null> {
    const { name, user, password, inboxPrefix } = this.#config;
    try {
      const connection = await connect({
        servers: serversToDial(this.#config.servers, this.#members),
        name,
        ...(user === undefined ? {} : { user, pass: password ?? "" }),
        inboxPrefix,
        timeout: busLimits.connectTimeoutMs,
        reconnect: false,
        pingInterval: busLimits.pingIntervalMs,
        maxPingOut: busLimits.pingsUnansweredMax,
        noAsyncTraces: true,
      });
      if (!this.#closing.signal.aborted) return connection;
      await connection.close();
    } catch (error) {
      if (error instanceof errors.AuthorizationError) this.#reportRefusedLogin();
      this.#failure =
        error instanceof errors.AuthorizationError
          ? loginRefused(this.#config.user ?? "").message
          : "";
    }
    return null;
  }

  /** A closed connection reports no members, and neither does a server outside a cluster. */
  #learnMembers(): void {
    const members = this.#connection?.info?.connect_urls;
    if (members !== undefined) this.#members = members;
  }

  async #watch(statuses: AsyncIterable<Status>): Promise<void> {
    for await (const status of statuses) {
      if (status.type === "update") this.#learnMembers();
      if (status.type === "disconnect") this.#setUp(false);
      if (status.type === "error") this.#report(status.error);
    }
  }

  #report(error: Error): void {
    if (error instanceof errors.AuthorizationError) {
      this.#reportRefusedLogin();
      return;
    }
    if (!(error instanceof errors.PermissionViolationError)) {
      this.#config.onProblem(serverProblem(error));
      return;
    }
    const operation = error.operation === "publish" ? "publish to" : "subscribe to";
    const refusal = { operation, subject: error.subject };
    this.#config.onProblem(notPermitted(refusal.operation, refusal.subject));
    for (const callback of this.#refusalCallbacks) callback(refusal);
  }

  /** Reports a refused login once, however often it is retried; a successful login resets this. */
  #reportRefusedLogin(): void {
    if (this.#loginRefused) return;
    this.#loginRefused = true;
    this.#config.onProblem(loginRefused(this.#config.user ?? ""));
  }

  #setUp(up: boolean): void {
    if (this.#up === up) return;
    this.#up = up;
    this.#failure = "";
    if (up) this.#loginRefused = false;
    for (const callback of this.#connectionCallbacks) {
      try {
        callback(up);
      } catch (error) {
        this.#config.onProblem(callbackThrew("a callback of onConnection", error));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#firstTry();
    // The last published message may still be in flight; a half-open connection must not delay the close.
    await atMost(systemClock, busLimits.closeFlushMs, this.settled());
    await this.#connection?.close();
    await this.#keeping;
  }
}

/** Returns the configured servers, then the cluster's other members. */
export function serversToDial(
  configured: string | readonly string[],
  members: readonly string[],
): string[] {
  const first = typeof configured === "string" ? [configured] : configured;
  const known = new Set(first.map((server) => server.replace(/^.*:\/\//, "")));
  return [...first, ...members.filter((member) => !known.has(member))];
}
