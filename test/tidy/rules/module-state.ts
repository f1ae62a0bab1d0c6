import { isTestCode, linesThat, type Rule, sourcesOf } from "../rule.ts";

/** Collections that modules fill as they run, with the reason. All other collections are fields of objects. */
const filled: readonly (readonly [path: string, reason: string])[] = [
  ["libs/access/src/rights.ts", "rights computed once for each state of access"],
  ["services/agent/src/supervisor/main.ts", "the run of this process, which a signal ends"],
  ["libs/client/src/client.ts", "routes of the API's methods, read once from their descriptors"],
  ["libs/contracts/src/codec.ts", "codecs compiled once from their descriptors"],
  ["libs/event-log/src/postgres/event-rows.ts", "texts of event types, each once in memory"],
  ["libs/experiment-config/src/parts/values.ts", "what the exported schema writes of a type"],
];

const isProduction = (file: string): boolean =>
  /^(libs|services|deploy)\/[^/]+\/src\//.test(file) && !isTestCode(file);

/** An empty collection that is not indented is filled later. */
const emptyCollection =
  /^(export )?const \w+(: (?!Readonly).+)? = new (Weak)?(Map|Set)(<.*)?(\(\);|<)$/;
const emptyArray = /^(export )?const \w+: (?!readonly )(Array<.*>|.*\[\]) = \[\];$/;

export const noModuleState: Rule = {
  name: "a module holds no state: no `let` beside its functions, and no collection that is filled as it runs",
  check: (repository) => {
    const sources = sourcesOf(repository).filter(isProduction);
    const others = sources.filter((file) => !filled.some(([path]) => path === file));
    return [
      ...linesThat(repository, sources, /^(export )?let\b/, "make it a field"),
      ...linesThat(repository, others, emptyCollection, "make it a field"),
      ...linesThat(repository, others, emptyArray, "make it a field"),
    ];
  },
  violations: {
    "a variable": { "libs/a/src/a.ts": "let last: number | null = null;\n" },
    "a variable of the embedded cluster": { "deploy/a/src/a.ts": "let written = 0;\n" },
    "an exported variable": { "services/a/src/shell/a.ts": "export let ready = false;\n" },
    "a registry": { "libs/a/src/a.ts": "const known = new Map<string, () => void>();\n" },
    "a cache": { "libs/a/src/a.ts": "const made = new WeakMap<\n  object,\n  number\n>();\n" },
    "a registry that says its type": {
      "libs/a/src/a.ts": "const known: Map<string, () => void> = new Map();\n",
    },
    "a list": { "libs/a/src/a.ts": "const seen: string[] = [];\n" },
    "a set without types": { "services/a/src/core/a.ts": "export const seen = new Set();\n" },
  },
  kept: {
    "libs/a/src/a.ts":
      'const words = new Set(["and", "or"]);\nconst none: ReadonlySet<string> = new Set();\nconst nobody: readonly string[] = [];\nfunction f() {\n  let n = 0;\n  const seen = new Set<string>();\n}\n',
    "libs/a/src/a.test.ts": "let stage: object;\nconst seen = new Map<string, string>();\n",
    "test/sim/world.ts": "let worlds = 0;\n",
  },
};
