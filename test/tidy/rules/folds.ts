import type { Repository, Rule } from "../rule.ts";

const table = "libs/kernel/src/services.ts";

/** The services besides the gateway with a source or a migration that matches. */
function servicesWith(repository: Repository, pattern: RegExp): readonly string[] {
  const found = repository.files.flatMap((file) => {
    const [, service] = /^services\/([^/]+)\/(?:src|migrations)\/.*\.(?:ts|sql)$/.exec(file) ?? [];
    if (service === undefined || service === "gateway" || file.endsWith(".test.ts")) return [];
    return pattern.test(repository.read(file)) ? [service] : [];
  });
  return [...new Set(found)];
}

/** Compares the other services whose row has the fact with those that must have it. */
function differences(
  repository: Repository,
  fact: "folds" | "keepsViews",
  services: readonly string[],
): readonly string[] {
  const text = repository.files.includes(table) ? repository.read(table) : "";
  const rows = text.matchAll(/^ {2}"?([a-z-]+)"?: \{([^}]*)\}/gm);
  const named = [...rows].flatMap(([, service = "", row = ""]) =>
    service !== "gateway" && row.includes(`${fact}: true`) ? [service] : [],
  );
  return [
    ...services.filter((one) => !named.includes(one)).map((one) => `${one} lacks ${fact}: true`),
    ...named.filter((one) => !services.includes(one)).map((one) => `${one} has no use of ${fact}`),
  ];
}

export const foldsVerified: Rule = {
  name: "the table of services says which ones keep folds and views of the log",
  check: (repository) => {
    const keeping = servicesWith(repository, /\bnew View\(|\.view_cursor \(/);
    const showing = servicesWith(repository, /^\s+views: \[/m);
    const folding = [...new Set([...servicesWith(repository, /^\s+checks: \[/m), ...keeping])];
    return [
      ...differences(repository, "folds", folding),
      ...differences(repository, "keepsViews", keeping),
      ...keeping
        .filter((service) => !showing.includes(service))
        .map((service) => `services/${service} has a view, and gives its partition none`),
    ];
  },
  violations: {
    "a service that nobody asks": {
      [table]: "  a: { folds: true, keepsViews: false },\n",
      "services/b/src/term.ts": "  return {\n    checks: [snapshotCheck(name, b, log)],\n  };\n",
    },
    "a service without folds that is asked": {
      [table]: "  b: { folds: true, keepsViews: false },\n",
    },
    "a view that the partition does not have": {
      [table]: "  b: { folds: true, keepsViews: true },\n",
      "services/b/migrations/0001_b.sql":
        "create table b.view_cursor (\n  view text primary key\n);\n",
    },
    "a view that is not listed": {
      [table]: "  b: { folds: true, keepsViews: false },\n",
      "services/b/src/b.ts": "const b = new View(spec, pool, clock, logger);\n",
      "services/b/src/term.ts": "  return {\n    views: [b],\n  };\n",
    },
  },
  kept: {
    [table]:
      "  a: { folds: true, keepsViews: false },\n  b: {\n    folds: true,\n    keepsViews: true,\n  },\n",
    "services/a/src/term.ts": "  return {\n    checks: [snapshotCheck(name, a, log)],\n  };\n",
    "services/b/migrations/0001_b.sql":
      "create table b.view_cursor (\n  view text primary key\n);\n",
    "services/b/src/term.ts": "  return {\n    views: [b],\n  };\n",
    "services/c/migrations/0001_c.sql": "create table c.lines (line text);\n",
  },
};
