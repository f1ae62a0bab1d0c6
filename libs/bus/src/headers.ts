/**
 * Header values. As in the NATS binding of CloudEvents, every character that is not printable ASCII, and space, double
 * quote and percent, is percent-encoded in UTF-8: a value cannot break its header line and survives the client's
 * trimming.
 */
const safe = /^[\x21\x23\x24\x26-\x7e]*$/;
const unsafe = /[^\x21\x23\x24\x26-\x7e]+/gu;
const encoder = new TextEncoder();

export function encodeHeaderValue(value: string): string {
  if (safe.test(value)) return value;
  return value.replace(unsafe, (run) => {
    let encoded = "";
    for (const byte of encoder.encode(run)) {
      encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return encoded;
  });
}

export function decodeHeaderValue(value: string): string {
  return value.includes("%") ? decodeURIComponent(value) : value;
}

export const headerNames = {
  reply: "Ty-Reply",
  retryAfterMs: "Ty-Retry-After-Ms",
  waitMs: "Ty-Wait-Ms",
  commitId: "Ty-Commit-Id",
  authid: "Ty-Auth-Id",
  correlationid: "Ty-Correlation-Id",
  traceparent: "traceparent",
  streamVersion: "Ty-Stream-Version",
  log: "Ty-Log",
  epoch: "Ty-Epoch",
  previousId: "Ty-Previous-Id",
  contentType: "content-type",
  messageId: "Nats-Msg-Id",
  expectedLastId: "Nats-Expected-Last-Msg-Id",
  expectedLastSequence: "Nats-Expected-Last-Sequence",
  serviceError: "Nats-Service-Error",
  serviceErrorCode: "Nats-Service-Error-Code",
} as const;
