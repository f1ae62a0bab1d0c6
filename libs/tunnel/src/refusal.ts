/** A refused stream: the Fault that the serving end threw arrives as one with the same code and sentence. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { Fault, isFault, type Retry } from "@trainyard/kernel";

const names = { code: "trainyard-code", detail: "trainyard-detail", retry: "trainyard-retry" };
/** A detail is a sentence. A longer text would not fit into the headers. */
const detailCharsMax = 500;

export function refusalHeaders(error: unknown): OutgoingHttpHeaders {
  const fault = isFault(error)
    ? error
    : new Fault("tunnel_failed", "the other end of the tunnel failed", { retry: "later" });
  return {
    ":status": 502,
    [names.code]: fault.code,
    [names.retry]: fault.retry,
    [names.detail]: encodeURIComponent(fault.message.slice(0, detailCharsMax).toWellFormed()),
  };
}

export function refusalOf(headers: IncomingHttpHeaders): Fault {
  const code = String(headers[names.code] ?? "tunnel_failed");
  const detail = decoded(String(headers[names.detail] ?? "the other end refused the stream"));
  return new Fault(code, detail, { retry: retryOf(headers[names.retry]) });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const retryOf = (text: unknown): Retry => (text === "now" || text === "never" ? text : "later");
