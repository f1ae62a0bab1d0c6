/** Converts commands and their answers to messages and back. */
import type { Msg, MsgHdrs } from "@nats-io/nats-core";
import { commandFailed } from "../faults.ts";
import { decodeHeaderValue, encodeHeaderValue, headerNames } from "../headers.ts";
import { busLimits } from "../limits.ts";
import type { CommandHeaders, CommandReply } from "../port.ts";
import { headersOfMessage, wireHeaders } from "./wire-headers.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const nothing = new Uint8Array(0);

/** `waitMs` is how long the caller waits for the answer. */
export function commandHeadersToWire(headers: CommandHeaders, waitMs: number): MsgHdrs {
  return wireHeaders([
    [headerNames.commitId, encodeHeaderValue(headers.commitId)],
    [headerNames.authid, encodeHeaderValue(headers.authid)],
    [headerNames.traceparent, encodeHeaderValue(headers.traceparent)],
    [headerNames.correlationid, encodeHeaderValue(headers.correlationid)],
    [headerNames.waitMs, String(waitMs)],
  ]);
}

/** Returns how long the caller of a command waits for the answer; infinite for a message that does not say it. */
export function waitMsOf(message: Msg): number {
  return Number(headersOfMessage(message).get(headerNames.waitMs) ?? Number.POSITIVE_INFINITY);
}

export function commandHeadersOf(message: Msg): CommandHeaders {
  const headers = headersOfMessage(message);
  const read = (name: string): string => decodeHeaderValue(headers.get(name) ?? "");
  return {
    commitId: read(headerNames.commitId),
    authid: read(headerNames.authid),
    traceparent: read(headerNames.traceparent),
    correlationid: read(headerNames.correlationid),
  };
}

type WireReply = { readonly body: Uint8Array; readonly headers: MsgHdrs };

export function replyToWire(reply: CommandReply): WireReply {
  if (reply.kind === "unavailable") {
    const headers = wireHeaders([
      [headerNames.reply, reply.kind],
      [headerNames.retryAfterMs, String(reply.retryAfterMs)],
    ]);
    return { body: encoder.encode(reply.detail), headers };
  }
  return { body: reply.body, headers: wireHeaders([[headerNames.reply, reply.kind]]) };
}

/** The answer for a handler that threw: the error headers of the NATS services API, without the error's text. */
export function failureToWire(): WireReply {
  const headers = wireHeaders([
    [headerNames.serviceErrorCode, "500"],
    [headerNames.serviceError, "internal error"],
  ]);
  return { body: nothing, headers };
}

/** Parses an answer. Throws a Fault `command_failed` if it is none of the three kinds. */
export function replyOf(message: Msg, subject: string): CommandReply {
  const headers = headersOfMessage(message);
  const kind = headers.get(headerNames.reply);
  if (kind === "ok" || kind === "rejected") return { kind, body: message.data };
  if (kind !== "unavailable") throw commandFailed(subject);
  const retryAfterMs = Number(headers.get(headerNames.retryAfterMs));
  return {
    kind,
    detail: decoder.decode(message.data),
    retryAfterMs: retryAfterMs > 0 ? retryAfterMs : busLimits.retryAfterMs,
  };
}
