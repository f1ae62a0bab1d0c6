/** Compares what leaves with the AsyncAPI document. */
import { readFileSync } from "node:fs";
import { feedAckSubject, feedSubject } from "@trainyard/bus";
import { encodeEvent } from "@trainyard/contracts";
import { binaryModeOf, LeavingEvent } from "@trainyard/outbound";
import { serviceMeta } from "@trainyard/runtime";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { formats } from "./shell/webhooks/formats/formats.ts";

type Message = { readonly headers?: object; readonly payload: object };
type Document = {
  readonly channels: Readonly<Record<string, { readonly address: string | null }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly messages: Readonly<Record<string, Message>>;
  };
};

const path = new URL("../../gateway/src/http/gen/asyncapi.json", import.meta.url);
const document = JSON.parse(readFileSync(path, "utf8")) as Document;

const event = new LeavingEvent(
  {
    ...{ position: 12, stream: "experiment-1", version: 3, commitId: "c1" },
    ...{ id: "0193c5a0-0000-7000-8000-000000000001", timeMs: 1_790_000_000_000 },
    meta: {
      ...serviceMeta("experiments"),
      workspace: "vision",
      authid: "ada",
      traceparent: "00-1",
    },
    ...encodeEvent({ type: "ExperimentEnded", data: { outcome: 3, reason: "a trial failed" } }),
  },
  "e1",
);

const messageOf = (name: string): Message => {
  const message = document.components.messages[name];
  if (message === undefined) throw new Error(`the document has no message ${name}`);
  return message;
};

/** Returns how the value differs from a schema in which no field is left open. */
function mismatches(schema: object | undefined, value: unknown): readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "doc", components: document.components });
  const own = JSON.parse(JSON.stringify(schema ?? {}).replaceAll('"#/', '"doc#/')) as object;
  ajv.validate({ ...own, unevaluatedProperties: false }, value);
  return (ajv.errors ?? []).map(({ message, params }) => `${message} ${JSON.stringify(params)}`);
}

describe("an event that leaves has the documented form", () => {
  test.each([
    ["NatsEvent", "ce-"],
    ["KafkaEvent", "ce_"],
  ] as const)("as %s", (name, prefix) => {
    const { headers, body } = binaryModeOf(event, prefix);
    const message = messageOf(name);
    expect(mismatches(message.headers, Object.fromEntries(headers))).toEqual([]);
    const ended = { $ref: "#/components/schemas/ExperimentEnded" };
    expect(mismatches(ended, JSON.parse(body))).toEqual([]);
    expect(mismatches(ended, { another: 1 })).toHaveLength(1);
  });

  test.each([
    ["StandardWebhook", "standard"],
    ["SlackWebhook", "slack"],
    ["DiscordWebhook", "discord"],
    ["DeterminedWebhook", "determined"],
  ])("as %s", (name, format) => {
    const chosen = formats[format];
    if (chosen === undefined) throw new Error(format);
    const secrets = [chosen.newSecret()];
    const { headers, body } = chosen.requestOf(event, { secrets, nowMs: 1_790_000_000_000 });
    const { "content-type": _type, ...others } = headers as Record<string, string>;
    const message = messageOf(name);
    expect(mismatches(message.headers ?? { type: "object" }, others)).toEqual([]);
    expect(mismatches(message.payload, JSON.parse(body))).toEqual([]);
  });

  test("under the documented subjects", () => {
    const { feed, feedAck } = document.channels;
    expect(feed?.address?.replace("{subscription}", "nightly")).toBe(feedSubject("nightly"));
    expect(feedAck?.address?.replace("{subscription}", "nightly").replace("{position}", "12")).toBe(
      feedAckSubject("nightly", 12),
    );
  });
});
