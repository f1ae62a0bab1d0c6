/** Turns a handler's outcome into an answer; the same over NATS and in memory. */
import { isFault } from "@trainyard/kernel";
import { busLimits } from "./limits.ts";
import type { CommandHandler, CommandReply, ServedCommand } from "./port.ts";

export type Answered =
  | { readonly kind: "reply"; readonly reply: CommandReply }
  /** The handler threw an unexpected error: the caller learns only this, and the details go to the service's log. */
  | { readonly kind: "failed"; readonly error: unknown };

/** Never rejects. A retryable Fault becomes "unavailable" without its text, which may contain internal details. */
export async function answer(
  service: string,
  handler: CommandHandler,
  request: ServedCommand,
): Promise<Answered> {
  try {
    return { kind: "reply", reply: await handler(request) };
  } catch (error) {
    if (!isFault(error) || error.retry === "never") return { kind: "failed", error };
    return { kind: "reply", reply: unavailable(`${service} cannot do this now (${error.code})`) };
  }
}

export const overloaded = (service: string): CommandReply =>
  unavailable(`${service} has too many commands in progress`);

function unavailable(detail: string): CommandReply {
  return { kind: "unavailable", detail, retryAfterMs: busLimits.retryAfterMs };
}
