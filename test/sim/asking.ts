import type { Bus, CommandReply } from "@trainyard/bus";
import { deriveCommitId } from "@trainyard/event-log";
import { type Clock, pause } from "@trainyard/kernel";

const deadlineMs = 2_000;
const againMs = 500;

/** Sends commands to a service as the gateway does: one command under one commit id, retried until it is answered. */
export class Asking {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #service: string;
  /** The name of who asks, by which its commit ids differ from those of others. */
  readonly #who: string;
  #asked = 0;

  constructor(bus: Bus, clock: Clock, service = "experiments", who = "sim") {
    this.#bus = bus;
    this.#clock = clock;
    this.#service = service;
    this.#who = who;
  }

  async ask(command: string, body: Uint8Array): Promise<CommandReply> {
    this.#asked += 1;
    const commitId = deriveCommitId(this.#who, String(this.#asked));
    const headers = { commitId, authid: "", traceparent: "", correlationid: "" };
    for (;;) {
      try {
        const reply = await this.#bus.request(
          this.#service,
          command,
          { headers, body },
          deadlineMs,
        );
        if (reply.kind !== "unavailable") return reply;
      } catch {
        // Without an answer, the same command may be sent again.
      }
      await pause(this.#clock, againMs);
    }
  }
}
