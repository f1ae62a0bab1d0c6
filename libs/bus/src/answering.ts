/** How a handler's outcome becomes an answer; the same over NATS and in memory. */
import { isFault } from "@trainyard/kernel";
import { busLimits } from "./limits.ts";
import type { CommandHandler, CommandReply, CommandRequest } from "./port.ts";

export type Answered =
  | { readonly kind: "reply"; readonly reply: CommandReply }
  /** The handler is broken: the caller learns only that, the details go to the service's own log. */
  | { readonly kind: "failed"; readonly error: unknown };

/** Never rejects. A Fault that may pass is "unavailable", without its text, which may name what is inside. */
export async function answer(
  service: string,
  handler: CommandHandler,
  request: CommandRequest,
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
