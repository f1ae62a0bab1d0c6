/** The Faults of the bus, shared by both adapters so that they throw the same. */
import { Fault } from "@trainyard/kernel";
import { busLimits } from "./limits.ts";

export const busAway = (): Fault =>
  new Fault("bus_away", "the message bus cannot be reached", { retry: "later" });

export const linkLost = (subject: string): Fault =>
  new Fault("bus_away", "the link to the message bus was lost before an answer came", {
    retry: "later",
    fields: { subject },
  });

export const noResponders = (subject: string): Fault =>
  new Fault("no_responders", `no service answers ${subject} now`, {
    retry: "later",
    fields: { subject },
  });

export const deadlineExceeded = (subject: string, deadlineMs: number): Fault =>
  new Fault("deadline_exceeded", `${subject} did not answer within ${deadlineMs} ms`, {
    retry: "later",
    fields: { subject, deadlineMs },
  });

export const notPermitted = (operation: string, subject: string): Fault =>
  new Fault("not_permitted", `this user may not ${operation} ${subject}`, {
    retry: "never",
    fields: { operation, subject },
  });

export const messageTooLarge = (subject: string, bytes: number, cause: unknown): Fault =>
  new Fault(
    "message_too_large",
    `a message has ${bytes} bytes; the bus carries at most ${busLimits.messageBytesMax} with its headers`,
    { retry: "never", cause, fields: { subject, bytes } },
  );

export const commandFailed = (subject: string): Fault =>
  new Fault("command_failed", `${subject} failed inside its service; its log says why`, {
    retry: "never",
    fields: { subject },
  });

export const relayDiverged = (position: number, detail: string): Fault =>
  new Fault("relay_diverged", `another publisher published before event ${position}: ${detail}`, {
    retry: "now",
    fields: { position },
  });

export const unconfirmed = (position: number, detail: string): Fault =>
  new Fault("publish_unconfirmed", `event ${position} was not confirmed: ${detail}`, {
    retry: "later",
    fields: { position },
  });

export const callbackThrew = (what: string, cause: unknown): Fault =>
  new Fault("callback_threw", `${what} threw`, { retry: "never", cause });

export const loginRefused = (user: string): Fault =>
  new Fault("login_refused", `the NATS server refuses the user "${user}" or its password`, {
    retry: "later",
    fields: { user },
  });

export const serverProblem = (cause: Error): Fault =>
  new Fault("nats_server_problem", `the NATS server reports: ${cause.message}`, {
    retry: "later",
    cause,
  });
