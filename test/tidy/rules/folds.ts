import type { Repository, Rule } from "../rule.ts";

const asker = "services/gateway/src/shell/verify.ts";

/** The services that have partition checks, or fold the log into tables. */
function foldingServices(repository: Repository): readonly string[] {
  const folding = repository.files.flatMap((file) => {
    const [, service] = /^services\/([^/]+)\/(?:src|migrations)\/.*\.(?:ts|sql)$/.exec(file) ?? [];
    if (service === undefined || service === "gateway" || file.endsWith(".test.ts")) return [];
    return /^\s+checks: \[|\bnew View\(|\.view_cursor \(/m.test(repository.read(file))
      ? [service]
      : [];
  });
  return [...new Set(folding)];
}

export const foldsVerified: Rule = {
  name: "whatever folds the log for keeps is asked by `yard log verify`, and can answer",
  check: (repository) => {
    const folding = foldingServices(repository);
    const has = (file: string): boolean => repository.files.includes(file);
    const asked = has(asker)
      ? (/foldingServices = \[([^\]]*)\]/.exec(repository.read(asker))?.[1] ?? "")
      : "";
    return folding.flatMap((service) => {
      const sources = repository.files.filter((file) =>
        file.startsWith(`services/${service}/src/`),
      );
      const answers = sources.some((file) => /^\s+checks: \[/m.test(repository.read(file)));
      return [
        ...(asked.includes(`"${service}"`) ? [] : [`${asker} does not ask ${service}`]),
        ...(answers ? [] : [`services/${service} folds the log and gives its partition no checks`]),
      ];
    });
  },
  violations: {
    "a service that nobody asks": {
      [asker]: 'export const foldingServices = ["a"] as const;\n',
      "services/b/src/term.ts": "  return {\n    checks: [viewCheck(name, view, log)],\n  };\n",
    },
    "a view without a check": {
      [asker]: 'export const foldingServices = ["b"] as const;\n',
      "services/b/migrations/0001_b.sql":
        "create table b.view_cursor (\n  view text primary key\n);\n",
    },
  },
  kept: {
    [asker]: 'export const foldingServices = ["b"] as const;\n',
    "services/b/migrations/0001_b.sql":
      "create table b.view_cursor (\n  view text primary key\n);\n",
    "services/b/src/term.ts": "  return {\n    checks: [viewCheck(name, view, log)],\n  };\n",
    "services/c/migrations/0001_c.sql": "create table c.lines (line text);\n",
  },
};
