/** All benchmarks by name. */
import type { Bench } from "./support/bench.ts";

export const benches = {
  "event-log": {
    about:
      "commands and bulk appends beside raw inserts and beside Emmett; ten processes on a slow disk",
    load: async (): Promise<Bench> => (await import("./event-log/bench.ts")).run,
  },
  delivery: {
    about: "log to relay to NATS to consumer: saturated, and latency at 2,000 events a second",
    load: async (): Promise<Bench> => (await import("./delivery/bench.ts")).run,
  },
  feeds: {
    about:
      "readers of the stream of events: latency, cost, replays; the whole log to Kafka beside a bare producer",
    load: async (): Promise<Bench> => (await import("./feeds/bench.ts")).run,
  },
  replay: {
    about: "loading one stream of 32 events beside a bare select",
    load: async (): Promise<Bench> => (await import("./replay/bench.ts")).run,
  },
  rebuild: {
    about:
      "a read model from 1,000,000 events beside keyset pages; appends to a large log beside a small one",
    load: async (): Promise<Bench> => (await import("./rebuild/bench.ts")).run,
  },
  submit: {
    about:
      "submitting an experiment until the first line of its first trial, beside starting the same Python",
    load: async (): Promise<Bench> => (await import("./submit/bench.ts")).run,
  },
  scheduling: {
    about:
      "placement passes with all rules on beside a plain scan; beats, memory, utilisation, a durable log; no-op trials beside Slurm",
    load: async (): Promise<Bench> => (await import("./scheduling/bench.ts")).run,
  },
  search: {
    about:
      "searches beside Optuna's: the best value after so many trials, and suggestions a second",
    load: async (): Promise<Bench> => (await import("./search/bench.ts")).run,
  },
  pytorch: {
    about:
      "a PyTorchTrial beside the same training by hand: steps, two processes, checkpoints, start",
    load: async (): Promise<Bench> => (await import("./pytorch/bench.ts")).run,
  },
  checkpoints: {
    about:
      "checkpoints stored and read beside cp and boto3; their policy and the versions of models, at 100,000 beside 10,000",
    load: async (): Promise<Bench> => (await import("./checkpoints/bench.ts")).run,
  },
  metrics: {
    about:
      "reports until they are durable and until a subscriber has them, their size, and series by the pixel, beside plain rows",
    load: async (): Promise<Bench> => (await import("./metrics/bench.ts")).run,
  },
  logs: {
    about:
      "log lines stored beside COPY, searched for one among 1,000,000, and written beside a flood",
    load: async (): Promise<Bench> => (await import("./logs/bench.ts")).run,
  },
  gateway: {
    about: "lists of 100,000 experiments, and one experiment over HTTP beside a bare server",
    load: async (): Promise<Bench> => (await import("./gateway/bench.ts")).run,
  },
  proxy: {
    about:
      "a task's page and streams to a port through gateway and tunnel, beside two nginx in a row",
    load: async (): Promise<Bench> => (await import("./proxy/bench.ts")).run,
  },
  notebook: {
    about:
      "a notebook until its page answers, beside a bare jupyter lab; a save of its folder after a change; idle notebooks",
    load: async (): Promise<Bench> => (await import("./notebook/bench.ts")).run,
  },
  boot: {
    about: "warm start of the embedded cluster, its memory at rest, and the start of its commands",
    load: async (): Promise<Bench> => (await import("./boot/bench.ts")).run,
  },
  images: {
    about:
      "the images of services: their size, their build, and a container's start beside the same service on the host",
    load: async (): Promise<Bench> => (await import("./images/bench.ts")).run,
  },
  web: {
    about:
      "what the pages cost a browser: first load, first rows, a chart beside uPlot, a log that is written fast, memory",
    load: async (): Promise<Bench> => (await import("./web/bench.ts")).run,
  },
} as const;

export type BenchName = keyof typeof benches;

export const isBenchName = (name: string): name is BenchName => Object.hasOwn(benches, name);
