/**
 * The AsyncAPI 3 document of the events that leave the platform: as server-sent events, over NATS, to Kafka and to
 * webhooks. The subjects of the services among themselves are not in it. Operations are named from the side of
 * Trainyard: it sends events and receives acknowledgements.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { EventType } from "@trainyard/contracts";
import type { Protocol } from "../events-page/protocol.ts";
import { type Schema, Schemas } from "./schemas.ts";
import {
  discordMessage,
  slackMessage,
  standardHeaders,
  determinedMessage,
} from "./webhook-messages.ts";

export type EventParts = {
  readonly version: string;
  readonly protocol: Protocol;
  readonly eventTypes: readonly EventType[];
  /** The message of an event that leaves. */
  readonly event: DescMessage;
  /** The request that opens the stream of server-sent events. */
  readonly watch: DescMessage;
  /** Returns the stored body of an event of a type. */
  readonly bodyOf: (type: string) => unknown;
};

export function asyncApi(parts: EventParts): Schema {
  const { version, protocol, eventTypes, event } = parts;
  const schemas = new Schemas(protocol);
  const cloudEvent = schemas.ref(event);
  const names = eventTypes.map(({ schema }) => schema.name);
  const messages = Object.fromEntries(
    eventTypes.map((type) => [type.schema.name, messageOf(schemas, type, cloudEvent)]),
  );
  const bodies = {
    anyOf: [...eventTypes.map(({ schema }) => schemas.ref(schema)), { type: "null" }],
  };
  const components = schemas.all();
  for (const { type, schema } of eventTypes) {
    const body = components[schema.name];
    if (body !== undefined) body["examples"] = [parts.bodyOf(type)];
  }
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Events of Trainyard",
      version,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    defaultContentType: "application/json",
    servers,
    channels: channels(names),
    operations: operations(schemas, parts.watch),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        subscription: {
          type: "userPassword",
          description: "The user and password that CreateSubscription returned.",
        },
      },
      messages: { ...messages, ...boundMessages(schemas, event, cloudEvent, bodies) },
      schemas: components,
    },
  };
}

function messageOf(schemas: Schemas, { type, schema }: EventType, cloudEvent: Schema): Schema {
  const properties = { type: { const: type }, data: schemas.ref(schema) };
  return {
    name: type,
    contentType: "application/json",
    payload: { allOf: [cloudEvent, { type: "object", properties }] },
  };
}

const server = (protocol: string, host: string, description: string, security: Schema): Schema => ({
  host: "{host}",
  protocol,
  description,
  variables: { host: { default: host } },
  ...security,
});
const servers: Schema = {
  gateway: server("http", "127.0.0.1:8080", "The gateway of the cluster.", {
    security: [{ $ref: "#/components/securitySchemes/bearer" }],
  }),
  nats: server("nats", "127.0.0.1:4222", "The NATS server of the cluster.", {
    security: [{ $ref: "#/components/securitySchemes/subscription" }],
  }),
  kafka: server("kafka", "kafka-1:9092", "The brokers that the operator has set up.", {}),
};

const ofServer = (name: string) => [{ $ref: `#/servers/${name}` }];

function channels(names: readonly string[]): Schema {
  const refs = (all: readonly string[]) =>
    Object.fromEntries(all.map((name) => [name, { $ref: `#/components/messages/${name}` }]));
  const subscription = { description: "The name of the subscription." };
  return {
    events: {
      address: "/api/v1/events",
      description: "Server-sent events, whose data is a CloudEvent in JSON.",
      servers: ofServer("gateway"),
      messages: refs(names),
    },
    feed: {
      address: "ty.feed.{subscription}",
      description: "The events of a subscription over NATS, in the binary mode of CloudEvents.",
      servers: ofServer("nats"),
      parameters: { subscription },
      messages: refs(["NatsEvent"]),
    },
    feedAck: {
      address: "ty.feed-ack.{subscription}.{position}",
      description: "The reply subject of an event over NATS, which takes an empty message.",
      servers: ofServer("nats"),
      parameters: { subscription, position: { description: "The position of the event." } },
      messages: refs(["NatsAcknowledgement"]),
    },
    kafka: {
      address: "{topic}",
      description:
        "All events of the log, in the binary mode of CloudEvents. The key is the stream.",
      servers: ofServer("kafka"),
      parameters: { topic: { default: "trainyard-events" } },
      messages: refs(["KafkaEvent"]),
    },
    webhook: {
      address: null,
      title: "The URL of a webhook",
      description: "A POST for each event, in the format of the webhook.",
      messages: refs(["StandardWebhook", "SlackWebhook", "DiscordWebhook", "DeterminedWebhook"]),
    },
  };
}

function operations(schemas: Schemas, watch: DescMessage): Schema {
  const to = (channel: string, more: Schema = {}) => ({
    action: "send",
    channel: { $ref: `#/channels/${channel}` },
    ...more,
  });
  const query = {
    type: "object",
    properties: Object.fromEntries(
      watch.fields.map((field) => [field.jsonName, schemas.field(field)]),
    ),
  };
  return {
    streamEvents: to("events", { bindings: { http: { method: "GET", query } } }),
    sendToFeed: to("feed", { reply: { channel: { $ref: "#/channels/feedAck" } } }),
    receiveAcknowledgement: { action: "receive", channel: { $ref: "#/channels/feedAck" } },
    sendToKafka: to("kafka"),
    sendToWebhook: to("webhook", { bindings: { http: { method: "POST" } } }),
  };
}

function boundMessages(
  schemas: Schemas,
  event: DescMessage,
  cloudEvent: Schema,
  bodies: Schema,
): Schema {
  const attributes = event.fields.filter(({ name }) => !/^data(contenttype)?$/.test(name));
  const headers = (prefix: string, more: Schema): Schema => ({
    type: "object",
    properties: {
      ...Object.fromEntries(
        attributes.map((field) => [`${prefix}${field.jsonName}`, schemas.field(field)]),
      ),
      "content-type": { type: "string", const: "application/json" },
      ...more,
    },
  });
  const follows = {
    type: "string",
    description: "The position of the last unanswered event before this one.",
  };
  return {
    NatsEvent: { headers: headers("ce-", { "Ty-Follows": follows }), payload: bodies },
    NatsAcknowledgement: { payload: { type: "null" } },
    KafkaEvent: {
      headers: headers("ce_", {}),
      payload: bodies,
      bindings: { kafka: { key: { type: "string", description: "The stream of the event." } } },
    },
    StandardWebhook: {
      contentType: "application/cloudevents+json",
      headers: standardHeaders,
      payload: cloudEvent,
    },
    SlackWebhook: slackMessage,
    DiscordWebhook: discordMessage,
    DeterminedWebhook: determinedMessage,
  };
}
