/**
 * The permissions of the bus by subject; everything else is refused. The rules are pure functions, so that the embedded
 * server and a production cluster get the same configuration.
 */
import { agentCommands } from "@trainyard/contracts/command-services";
import { type ServiceName, services } from "@trainyard/kernel/services";
import {
  agentDoSubject,
  agentReportSubject,
  commandSubject,
  feedAckSubjects,
  feedSubject,
  inboxPrefixOf,
  probeSubject,
} from "./subjects.ts";
import type { StreamKey } from "./nats/streams.ts";

export type Permissions = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer a request at its reply address. */
  readonly respond: boolean;
};

/** A service, an agent, or the program that receives a subscription, each identified by its name. */
export type BusPrincipal =
  | { readonly kind: "service"; readonly service: ServiceName }
  | { readonly kind: "agent"; readonly agent: string }
  | { readonly kind: "subscription"; readonly subscription: string };

/** Returns all users of a NATS server: services, agents, and the programs that receive subscriptions. */
export function busPrincipals(names: {
  readonly services: readonly ServiceName[];
  readonly agents: readonly string[];
  readonly subscriptions?: readonly string[];
}): readonly BusPrincipal[] {
  const { subscriptions = [] } = names;
  return [
    ...names.services.map((service) => ({ kind: "service", service }) as const),
    ...names.agents.map((agent) => ({ kind: "agent", agent }) as const),
    ...subscriptions.map((subscription) => ({ kind: "subscription", subscription }) as const),
  ];
}

/** Returns the user of a principal, which also determines its inbox. */
export function busUserOf(principal: BusPrincipal): string {
  switch (principal.kind) {
    case "service":
      return principal.service;
    case "agent":
      return `agent-${principal.agent}`;
    case "subscription":
      return `feed-${principal.subscription}`;
  }
}

export function permissionsOf(principal: BusPrincipal): Permissions {
  const inbox = `${inboxPrefixOf(busUserOf(principal))}.>`;
  if (principal.kind === "agent") {
    const { agent } = principal;
    return {
      publish: [
        agentReportSubject(agent),
        ...agentCommands.map(({ service, name }) => commandSubject(service, name)),
      ],
      subscribe: [agentDoSubject(agent), inbox],
      respond: false,
    };
  }
  if (principal.kind === "subscription") {
    const { subscription } = principal;
    return {
      publish: [feedAckSubjects(subscription)],
      subscribe: [feedSubject(subscription)],
      respond: false,
    };
  }
  const { service } = principal;
  const own = ownSubjects(service);
  const serves = service !== "relay";
  return {
    publish: own.publish,
    subscribe: [
      ...(hearsEvents(service) ? ["ty.event.>"] : []),
      ...(serves ? servedSubjects(service) : []),
      ...own.subscribe,
      inbox,
    ],
    respond: serves,
  };
}

function hearsEvents(service: ServiceName): boolean {
  return services.some((one) => one.name === service && one.hearsEvents);
}

function servedSubjects(service: ServiceName): readonly string[] {
  // The server also matches a wildcard token: "$SRV.*" would allow "$SRV.>".
  const discovery = ["PING", "INFO", "STATS"].flatMap((verb) => [
    `$SRV.${verb}`,
    `$SRV.${verb}.${service}`,
    `$SRV.${verb}.${service}.*`,
  ]);
  return [`ty.cmd.${service}.*`, ...discovery];
}

type Subjects = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

function ownSubjects(service: ServiceName): Subjects {
  switch (service) {
    case "gateway":
      return {
        publish: ["ty.cmd.*.*", "$SRV.>", ...endOfEvents],
        subscribe: ["ty.metric.>", "ty.log.>"],
      };
    case "relay":
      return {
        publish: [
          "ty.event.>",
          ...streamSubjects("EVENTS"),
          "$JS.API.STREAM.MSG.GET.EVENTS",
          "$JS.API.STREAM.PURGE.EVENTS",
          rewindSubject,
        ],
        subscribe: [],
      };
    case "scheduler":
      return {
        publish: ["ty.agent.*.do", probeSubject(service), rewindSubject],
        subscribe: ["ty.agent.*.report", probeSubject(service)],
      };
    case "metrics":
      return {
        publish: ["ty.metric.>", ...streamSubjects("METRICS"), rewindSubject, ...endOfEvents],
        subscribe: [],
      };
    case "logs":
      return {
        publish: ["ty.log.>", ...streamSubjects("LOGS"), rewindSubject, ...endOfEvents],
        subscribe: [],
      };
    case "feeds":
      return { publish: ["ty.feed.*", rewindSubject], subscribe: ["ty.feed-ack.>"] };
    case "searcher":
      return { publish: [rewindSubject], subscribe: [] };
    case "experiments":
    case "registry":
    case "checkpoint-gc":
      return { publish: [rewindSubject, ...endOfEvents], subscribe: [] };
  }
}

/** Every reader of the log reports a log that went back. */
const rewindSubject = commandSubject("registry", "RecordRewind");

/** The JetStream API subjects that read the last event: what deletes data compares it with the log. */
const endOfEvents = ["$JS.API.STREAM.INFO.EVENTS", "$JS.API.STREAM.MSG.GET.EVENTS"] as const;

/** Returns the JetStream API subjects that set up a stream. */
function streamSubjects(stream: StreamKey): readonly string[] {
  return ["CREATE", "UPDATE", "INFO"].map((verb) => `$JS.API.STREAM.${verb}.${stream}`);
}
