/**
 * Standard Webhooks 1.0: the body is the event as CloudEvents' structured JSON, signed with HMAC-SHA256 over
 * `id.timestamp.body`. Each secret makes a signature of its own, so that a receiver can change its secret in between.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { WebhookFormat } from "../format.ts";

const prefix = "whsec_";
const keyBytes = { least: 24, most: 64 } as const;

export const standard: WebhookFormat = {
  requestOf: (event, { secrets, nowMs }) => {
    const { id } = event.stored;
    const timestamp = String(Math.floor(nowMs / 1_000));
    const body = event.text;
    const signatures = secrets.map(
      (secret) =>
        `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
    );
    return {
      headers: {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signatures.join(" "),
      },
      body,
    };
  },
  checkSecret: (secret) => {
    const { least, most } = keyBytes;
    const { byteLength } = keyOf(secret);
    const isBase64 = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
    if (isBase64 && byteLength >= least && byteLength <= most) return null;
    return `the secret must be ${prefix} and Base64 of ${least} to ${most} bytes`;
  },
  newSecret: () => `${prefix}${randomBytes(32).toString("base64")}`,
};

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), "base64");
