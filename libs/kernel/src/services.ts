/**
 * The services of the platform, in the order of their start: called ones before their callers. A new service is a row
 * here, a folder of the same name in services/, and its other subjects in `permissions.ts` of libs/bus.
 */
type ServiceFacts = {
  /** Receives all events from the bus, because it folds, shows or reacts to the events of others. */
  readonly hearsEvents: boolean;
  /** Keeps folds of the log, in tables or in saved states: `yard log verify` asks it to compare them. */
  readonly folds: boolean;
  /** Keeps views in tables, which `yard view` lists and rebuilds. */
  readonly keepsViews: boolean;
  /** Derives or verifies the tokens of runs, so it gets their key. */
  readonly readsRunTokens: boolean;
  /** The categories of the streams that it owns: the database refuses other writers. */
  readonly categories: readonly string[];
};

const facts = {
  relay: {
    hearsEvents: false,
    folds: false,
    keepsViews: false,
    readsRunTokens: false,
    categories: [],
  },
  registry: {
    hearsEvents: true,
    folds: true,
    keepsViews: true,
    readsRunTokens: true,
    categories: ["checkpoint", "model", "storage", "hold"],
  },
  metrics: {
    hearsEvents: true,
    folds: false,
    keepsViews: false,
    readsRunTokens: true,
    categories: ["measurement"],
  },
  logs: {
    hearsEvents: true,
    folds: false,
    keepsViews: false,
    readsRunTokens: true,
    categories: ["logsignal"],
  },
  "checkpoint-gc": {
    hearsEvents: true,
    folds: true,
    keepsViews: true,
    readsRunTokens: false,
    categories: ["retention", "policy"],
  },
  scheduler: {
    hearsEvents: true,
    folds: true,
    keepsViews: false,
    readsRunTokens: true,
    categories: ["allocation", "agent", "pool"],
  },
  searcher: {
    hearsEvents: true,
    folds: true,
    keepsViews: false,
    readsRunTokens: false,
    categories: ["search"],
  },
  experiments: {
    hearsEvents: true,
    folds: true,
    keepsViews: false,
    readsRunTokens: false,
    categories: ["experiment", "trial", "task"],
  },
  feeds: {
    hearsEvents: true,
    folds: true,
    keepsViews: true,
    readsRunTokens: false,
    categories: ["subscription"],
  },
  gateway: {
    hearsEvents: true,
    folds: true,
    keepsViews: true,
    readsRunTokens: true,
    categories: [
      "user",
      "access",
      "token",
      "environment",
      "content",
      "name",
      "workspace",
      "project",
    ],
  },
} as const satisfies Readonly<Record<string, ServiceFacts>>;

export type ServiceName = keyof typeof facts;

export type Service = ServiceFacts & { readonly name: ServiceName };

export const services: readonly Service[] = Object.entries(facts).map(([name, one]) => ({
  name: name as ServiceName,
  ...one,
}));

/** The service that owns each category of streams. */
export const categoryOwners: Readonly<Record<string, ServiceName>> = Object.fromEntries(
  services.flatMap(({ name, categories }) => categories.map((category) => [category, name])),
);
