import type { Repository, Rule } from "../rule.ts";

const asker = "services/gateway/src/shell/verify.ts";
const lister = "services/gateway/src/api/views.ts";

/** The services besides the gateway with a source or a migration that matches. */
function servicesWith(repository: Repository, pattern: RegExp): readonly string[] {
  const found = repository.files.flatMap((file) => {
    const [, service] = /^services\/([^/]+)\/(?:src|migrations)\/.*\.(?:ts|sql)$/.exec(file) ?? [];
    if (service === undefined || service === "gateway" || file.endsWith(".test.ts")) return [];
    return pattern.test(repository.read(file)) ? [service] : [];
  });
  return [...new Set(found)];
}

/** Compares the services that a list in the gateway names with those that it must name. */
function differences(
  repository: Repository,
  [file, list]: readonly [string, string],
  services: readonly string[],
): readonly string[] {
  const text = repository.files.includes(file) ? repository.read(file) : "";
  const items = new RegExp(`${list} = \\[([^\\]]*)\\]`).exec(text)?.[1] ?? "";
  const named = [...items.matchAll(/"([^"]+)"/g)].map(([, service = ""]) => service);
  return [
    ...services.filter((one) => !named.includes(one)).map((one) => `${file} does not ask ${one}`),
    ...named.filter((one) => !services.includes(one)).map((one) => `${file} asks ${one} in vain`),
  ];
}

export const foldsVerified: Rule = {
  name: "`yard log verify` asks whatever folds the log for keeps, and `yard view` whatever has views",
  check: (repository) => {
    const keeping = servicesWith(repository, /\bnew View\(|\.view_cursor \(/);
    const showing = servicesWith(repository, /^\s+views: \[/m);
    const folding = [...new Set([...servicesWith(repository, /^\s+checks: \[/m), ...keeping])];
    return [
      ...differences(repository, [asker, "foldingServices"], folding),
      ...differences(repository, [lister, "keepers"], keeping),
      ...keeping
        .filter((service) => !showing.includes(service))
        .map((service) => `services/${service} has a view, and gives its partition none`),
    ];
  },
  violations: {
    "a service that nobody asks": {
      [asker]: 'export const foldingServices = ["a"] as const;\n',
      "services/b/src/term.ts": "  return {\n    checks: [snapshotCheck(name, b, log)],\n  };\n",
    },
    "a service without folds that is asked": {
      [asker]: 'export const foldingServices = ["b"] as const;\n',
    },
    "a view that the partition does not have": {
      [asker]: 'export const foldingServices = ["b"] as const;\n',
      [lister]: 'const keepers = ["b"] as const;\n',
      "services/b/migrations/0001_b.sql":
        "create table b.view_cursor (\n  view text primary key\n);\n",
    },
    "a view that is not listed": {
      [asker]: 'export const foldingServices = ["b"] as const;\n',
      [lister]: "const keepers = [] as const;\n",
      "services/b/src/b.ts": "const b = new View(spec, pool, clock, logger);\n",
      "services/b/src/term.ts": "  return {\n    views: [b],\n  };\n",
    },
  },
  kept: {
    [asker]: 'export const foldingServices = [\n  "a",\n  "b",\n] as const;\n',
    [lister]: 'const keepers = ["b"] as const;\n',
    "services/a/src/term.ts": "  return {\n    checks: [snapshotCheck(name, a, log)],\n  };\n",
    "services/b/migrations/0001_b.sql":
      "create table b.view_cursor (\n  view text primary key\n);\n",
    "services/b/src/term.ts": "  return {\n    views: [b],\n  };\n",
    "services/c/migrations/0001_c.sql": "create table c.lines (line text);\n",
  },
};
