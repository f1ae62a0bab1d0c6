/** Values that cannot work are refused, each in one sentence that names the value. */
import { expect, test } from "vitest";
import { needHelm } from "../programs.ts";
import { required } from "./cases.ts";
import { template } from "./helm.ts";

const digest = `sha256:${"a".repeat(64)}`;
const { postgres, storage } = required;
const gpu = { slots: 4, slotType: "cuda", resources: { limits: { "nvidia.com/gpu": 2 } } };
const api = { enabled: true, api: { host: "trainyard.example.org" } };

const refused: readonly (readonly [string, object, string])[] = [
  ["a misspelt value", { servces: {} }, "additional properties 'servces' not allowed"],
  [
    "a misspelt value of a service",
    { services: { gateway: { replica: 2 } } },
    "at '/services/gateway': additional properties 'replica' not allowed",
  ],
  [
    "a service that is not there",
    { services: { gatway: {} } },
    "additional properties 'gatway' not allowed",
  ],
  [
    "a misspelt value of agents",
    { agents: { a: { slot: 1 } } },
    "at '/agents/a': additional properties 'slot' not allowed",
  ],
  [
    "a number in quotes",
    { services: { gateway: { replicas: "2" } } },
    "at '/services/gateway/replicas': got string, want integer",
  ],
  [
    "a tag and a digest",
    { services: { gateway: { image: { tag: "a", digest } } } },
    "services.gateway.image has both a tag and a digest: set one of them.",
  ],
  [
    "an agent's tag and digest",
    { agents: { a: { slots: 1, image: { tag: "a", digest } } } },
    "agents.a.image has both a tag and a digest: set one of them.",
  ],
  [
    "no replica of what others need",
    { services: { gateway: { replicas: 0 } } },
    "services.gateway.replicas is 0: set stopped to true to stop all services.",
  ],
  [
    "no replica of what others do without",
    { services: { feeds: { replicas: 0 } } },
    "services.feeds.replicas is 0: set stopped to true to stop all services, or enabled to false to leave this one out.",
  ],
  [
    "a service that others need and that is off",
    { services: { scheduler: { enabled: false } } },
    "services.scheduler.enabled is false, but agents and people need this service: only feeds and checkpoint-gc can be left out.",
  ],
  [
    "all services off",
    { serviceDefaults: { enabled: false } },
    "services.experiments.enabled is false, but agents and people need this service",
  ],
  [
    "no host of PostgreSQL",
    { postgres: { ...postgres, host: "" } },
    "postgres.host is not set: name the host of your PostgreSQL.",
  ],
  [
    "no NATS",
    { nats: { url: "" } },
    "nats.url is not set: name your NATS, such as nats://nats:4222.",
  ],
  ["a NATS without its scheme", { nats: { url: "nats:4222" } }, "at '/nats/url'"],
  [
    "no store of model code",
    { storage: { ...storage, blobs: "" } },
    "storage.blobs is not set: name a store, such as s3://bucket/blobs, because services and agents of a cluster share no folder.",
  ],
  [
    "no store of checkpoints",
    { storage: { ...storage, checkpoints: "" } },
    "storage.checkpoints is not set: name a store",
  ],
  ["a folder as a store", { storage: { ...storage, blobs: "/srv/blobs" } }, "at '/storage/blobs'"],
  [
    "two kinds of stores",
    { storage: { ...storage, blobs: "gs://models" } },
    "storage.blobs and storage.checkpoints are of two kinds: both must be s3://, or both gs://.",
  ],
  [
    "no administrator of PostgreSQL",
    { postgres: { host: "db", adminSecret: { name: "" } } },
    "postgres.adminSecret.name is not set: name the secret with PostgreSQL's administrator for `migrate`",
  ],
  [
    "keys that nobody makes",
    { migrate: { enabled: false }, keys: { existingSecret: "keys" } },
    "migrate.enabled is false, so no Job makes keys and passwords: set keys.existingSecret and postgres.existingSecret.",
  ],
  [
    "too little time for an agent to stop",
    { agents: { a: { slots: 1, terminationGracePeriodSeconds: 20 } } },
    "agents.a.terminationGracePeriodSeconds is 20: an agent needs up to 30 s to end its runs, so it must be at least 35.",
  ],
  [
    "too little time to stop",
    { serviceDefaults: { terminationGracePeriodSeconds: 10 } },
    "terminationGracePeriodSeconds is 10: a service needs up to 15 s to stop, so it must be at least 20.",
  ],
  [
    "an agent without slots",
    { agents: { a: { pool: "gpus" } } },
    "agents.a.slots is not set: say how many slots each of these agents has.",
  ],
  [
    "an agent with more slots than GPUs",
    { agents: { gpu } },
    "agents.gpu has 4 slots of cuda, but its resources.limits have 2 of nvidia.com/gpu: they must be the same number.",
  ],
  [
    "an agent with GPUs as CPU slots",
    { agents: { gpu: { ...gpu, slotType: "cpu" } } },
    "agents.gpu has 2 of nvidia.com/gpu, but its slotType is cpu: set it to cuda.",
  ],
  [
    "an agent's name that no host can have",
    { agents: { A_b: { slots: 1 } } },
    "agents.A_b is no name of pods: use lower-case letters, digits and -.",
  ],
  [
    "a name that is too long for a pod",
    { agents: { [`long${"-long".repeat(9)}`]: { slots: 1 } } },
    "has 58 characters, of 52: shorten the name of the release or of its agents.",
  ],
  [
    "pages of tasks at the host of the Web UI",
    { ingress: api, taskDomain: "trainyard.example.org" },
    "taskDomain trainyard.example.org and ingress.api.host trainyard.example.org are one domain, or one is below the other: pages of tasks need a domain that is used for nothing else.",
  ],
  [
    "pages of tasks below the host of the Web UI",
    { ingress: api, taskDomain: "tasks.trainyard.example.org" },
    "taskDomain tasks.trainyard.example.org and ingress.api.host trainyard.example.org are one domain, or one is below the other",
  ],
  [
    "two routes of one host",
    { ingress: { ...api, metrics: { host: "trainyard.example.org" } } },
    "ingress.api.host and ingress.metrics.host are both trainyard.example.org: each route needs a host of its own.",
  ],
  [
    "an ingress without a host",
    { ingress: { enabled: true } },
    "ingress.enabled is true, but ingress.api.host is not set: name the host of the API and the Web UI.",
  ],
  [
    "a variable that the chart sets",
    { services: { relay: { extraEnv: [{ name: "TRAINYARD_NATS_URL", value: "nats://x" }] } } },
    "services.relay.extraEnv has TRAINYARD_NATS_URL, which is set already: leave it out, or change the value of the chart that it comes from.",
  ],
  [
    "a variable with a value and a source",
    {
      services: {
        relay: {
          extraEnv: [{ name: "A", value: "b", valueFrom: { fieldRef: { fieldPath: "c" } } }],
        },
      },
    },
    "at '/services/relay/extraEnv/0'",
  ],
  [
    "a secret's name in capitals",
    { keys: { existingSecret: "Keys" } },
    "at '/keys/existingSecret'",
  ],
];

test.concurrent.for(refused)(
  "%s is refused in a sentence",
  async ([, values, sentence], { skip }) => {
    needHelm(skip);
    const error = await template({ values: { ...required, ...values } }).then(
      () => "it was rendered",
      (reason: unknown) => String(reason),
    );
    expect(error.replaceAll("\n", " ")).toContain(sentence);
    // No other sentence follows.
    expect(error.match(/(^|\n)- at /g)?.length ?? 1).toBe(1);
  },
);
