/**
 * Serves the commands of one service. Each command has a subscription in the service's queue group, so that replicas
 * share the load. The responders of the NATS services API (ADR-32 of NATS) let tools find the service and its
 * statistics.
 */
import { createInbox, type Msg, type NatsConnection, type Subscription } from "@nats-io/nats-core";
import { atMost, type Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { answer, overloaded } from "../answering.ts";
import { callbackThrew } from "../faults.ts";
import { busLimits } from "../limits.ts";
import type { CommandHandler } from "../port.ts";
import { commandSubject } from "../subjects.ts";
import { commandHeadersOf, failureToWire, replyToWire, waitMsOf } from "./command-wire.ts";

type EndpointStats = { requests: number; errors: number; lastError: string; busyMs: number };

export type ServiceServerConfig = {
  readonly service: string;
  readonly version: string;
  readonly commands: Readonly<Record<string, CommandHandler>>;
  readonly onProblem: (problem: Fault) => void;
};

const verbs = ["PING", "INFO", "STATS"] as const;
type Verb = (typeof verbs)[number];
const nanosPerMs = 1_000_000;

export class ServiceServer {
  readonly #config: ServiceServerConfig;
  readonly #id = createInbox("ty").slice("ty.".length);
  readonly #startedAt = new Date(systemClock.nowMs()).toISOString();
  readonly #stats = new Map<string, EndpointStats>();
  #subscriptions: Subscription[] = [];
  #connectionEnd: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  #idle: () => void = () => {};

  constructor(config: ServiceServerConfig) {
    this.#config = config;
    for (const command of Object.keys(config.commands)) {
      this.#stats.set(command, { requests: 0, errors: 0, lastError: "", busyMs: 0 });
    }
  }

  /** Subscribes on a new connection; the subscriptions of the previous one ended with it. */
  listen(connection: NatsConnection): readonly Subscription[] {
    const { service, commands } = this.#config;
    this.#connectionEnd = connection.closed();
    this.#subscriptions = Object.entries(commands).map(([command, handler]) =>
      connection.subscribe(commandSubject(service, command), {
        queue: service,
        callback: (error, message) => {
          if (error === null) void this.#handle(command, handler, message, connection);
        },
      }),
    );
    for (const verb of verbs) {
      for (const subject of [
        `$SRV.${verb}`,
        `$SRV.${verb}.${service}`,
        `$SRV.${verb}.${service}.${this.#id}`,
      ]) {
        const callback = (error: Error | null, message: Msg): void => {
          if (error === null) message.respond(JSON.stringify(this.#describe(verb)));
        };
        this.#subscriptions.push(connection.subscribe(subject, { callback }));
      }
    }
    return this.#subscriptions;
  }

  /** Accepts no more commands and waits for running ones, within a limit. */
  async drain(): Promise<void> {
    const subscriptions = this.#subscriptions;
    this.#subscriptions = [];
    const drained = Promise.allSettled(subscriptions.map((subscription) => subscription.drain()));
    // The client never settles a drain whose connection ends.
    await Promise.race([drained, this.#connectionEnd]);
    if (this.#inFlight === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.resolve;
    await atMost(systemClock, busLimits.drainMs, idle.promise);
  }

  async #handle(
    command: string,
    handler: CommandHandler,
    message: Msg,
    connection: NatsConnection,
  ): Promise<void> {
    const { service, onProblem } = this.#config;
    if (this.#inFlight >= busLimits.commandsInFlightMax) {
      this.#respond(connection, message, replyToWire(overloaded(service)));
      return;
    }
    this.#inFlight += 1;
    const startedMs = systemClock.monotonicMs();
    const lateMs = startedMs + waitMsOf(message);
    const isLate = (): boolean => systemClock.monotonicMs() >= lateMs;
    const request = { headers: commandHeadersOf(message), body: message.data, isLate };
    const answered = await answer(service, handler, request);
    const failed = answered.kind === "failed";
    if (failed) onProblem(callbackThrew(`the handler of ${service}.${command}`, answered.error));
    this.#respond(connection, message, failed ? failureToWire() : replyToWire(answered.reply));
    this.#count(command, systemClock.monotonicMs() - startedMs, failed);
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#idle();
  }

  /**
   * An answer whose connection has ended is lost: the server permits it on no other connection, and the caller times
   * out.
   */
  #respond(
    connection: NatsConnection,
    message: Msg,
    { body, headers }: ReturnType<typeof replyToWire>,
  ): void {
    if (connection.isClosed()) return;
    try {
      message.respond(body, { headers });
    } catch (error) {
      // The answer is too large for the bus.
      this.#config.onProblem(callbackThrew(`answering ${message.subject}`, error));
      const failure = failureToWire();
      try {
        message.respond(failure.body, { headers: failure.headers });
      } catch {
        return;
      }
    }
  }

  #count(command: string, busyMs: number, failed: boolean): void {
    const stats = this.#stats.get(command);
    if (stats === undefined) return;
    stats.requests += 1;
    stats.busyMs += busyMs;
    if (failed) {
      stats.errors += 1;
      stats.lastError = "internal error";
    }
  }

  #describe(verb: Verb): Record<string, unknown> {
    const { service, version, commands } = this.#config;
    const identity = {
      type: `io.nats.micro.v1.${verb.toLowerCase()}_response`,
      name: service,
      id: this.#id,
      version,
      metadata: {},
    };
    if (verb === "PING") return identity;
    const endpoints = Object.keys(commands).map((command) => ({
      name: command,
      subject: commandSubject(service, command),
      queue_group: service,
    }));
    if (verb === "INFO") return { ...identity, description: `Trainyard ${service}`, endpoints };
    return {
      ...identity,
      started: this.#startedAt,
      endpoints: endpoints.map((endpoint) => ({ ...endpoint, ...this.#statsOf(endpoint.name) })),
    };
  }

  #statsOf(command: string): Record<string, unknown> {
    const stats = this.#stats.get(command);
    const requests = stats?.requests ?? 0;
    const busyNanos = Math.round((stats?.busyMs ?? 0) * nanosPerMs);
    return {
      num_requests: requests,
      num_errors: stats?.errors ?? 0,
      last_error: stats?.lastError ?? "",
      processing_time: busyNanos,
      average_processing_time: requests === 0 ? 0 : Math.round(busyNanos / requests),
    };
  }
}
