import { dirname, join, normalize } from "node:path";
import type { Repository, Rule } from "../rule.ts";
import { isTestCode, sourcesOf } from "../rule.ts";

export type Import = { readonly file: string; readonly what: string };

const statement =
  /(?:^|\n)\s*(?:import|export)\b(?:[^;"'`]*?\bfrom)?\s*["']([^"'\n]+)["']|\bimport\(\s*["']([^"']+)["']/g;

export function importsOf(repository: Repository, files: readonly string[]): readonly Import[] {
  return files.flatMap((file) =>
    [...repository.read(file).matchAll(statement)].map((match) => ({
      file,
      what: match[1] ?? match[2] ?? "",
    })),
  );
}

/** The folder of the package that a file belongs to: libs/x, services/x, deploy/x, test or scripts. */
function packageOf(file: string): string {
  const [top = "", name = ""] = file.split("/");
  return ["libs", "services", "deploy"].includes(top) ? `${top}/${name}` : top;
}

/** The command line starts clusters, but starts no part of another service. */
const mayStartClusters = new Set(["services/cli"]);

export const layers: Rule = {
  name: "a lib or a deployment never imports a service, a service never another, and nothing imports tests",
  check: (repository) =>
    importsOf(repository, sourcesOf(repository)).flatMap(({ file, what }) => {
      const problem = layerProblem(packageOf(file), what);
      return problem === null ? [] : [`${file} imports ${what}: ${problem}`];
    }),
  violations: {
    "a lib that imports a service": {
      "libs/a/src/a.ts": 'import { b } from "@trainyard/service-b";\n',
    },
    "a service that imports another": {
      "services/a/src/a.ts": 'import { b } from "@trainyard/service-b";\n',
    },
    "a service that imports the cluster": {
      "services/a/src/a.ts": 'import "@trainyard/local-cluster";\n',
    },
    "the embedded cluster that imports a service": {
      "deploy/a/src/a.ts": 'import { b } from "@trainyard/service-b";\n',
    },
    "a service that loads another": {
      "services/a/src/a.ts": 'const b = await import("@trainyard/service-b");\n',
    },
    "a lib that imports tests": { "libs/a/src/a.ts": 'import { w } from "@trainyard/test";\n' },
  },
  kept: {
    "test/e2e/a.ts": 'import { b } from "@trainyard/service-b";\n',
    "services/cli/src/a.ts": 'import { up } from "@trainyard/local-cluster";\n',
    "services/a/src/a.ts": 'import { log } from "@trainyard/event-log";\n',
  },
};

function layerProblem(from: string, what: string): string | null {
  if (what === "@trainyard/test" || what.startsWith("@trainyard/test/")) {
    return "tests are imported by nothing";
  }
  const shared = from.startsWith("libs/") || from.startsWith("services/");
  if ((shared || from.startsWith("deploy/")) && what.startsWith("@trainyard/service-")) {
    return "services meet through events, and deploy starts them by their folders";
  }
  if (shared && what.startsWith("@trainyard/local-cluster") && !mayStartClusters.has(from)) {
    return "what is deployed does not know how";
  }
  return null;
}

/** Recorded histories and the simulation use the deciders themselves, which services do not export. */
const mayReachAcross = /^test\/(compat|sim)\//;
/** Programs that people start: one package in two folders, and the file that configures it. */
const tools = new Set(["test", "scripts", "vitest.config.ts"]);

function leavesPackage(file: string, what: string): boolean {
  const from = packageOf(file);
  const to = packageOf(normalize(join(dirname(file), what)));
  return from !== to && !(tools.has(from) && tools.has(to));
}

export const packageWalls: Rule = {
  name: "a path in an import never leaves the package",
  check: (repository) =>
    importsOf(repository, sourcesOf(repository))
      .filter(({ file, what }) => what.startsWith(".") && !mayReachAcross.test(file))
      .filter(({ file, what }) => leavesPackage(file, what))
      .map(({ file, what }) => `${file} imports ${what}: use the package's name`),
  violations: {
    "into another lib": { "libs/a/src/a.ts": 'import { b } from "../../b/src/b.ts";\n' },
    "from a test": {
      "services/a/src/a.test.ts": 'import { b } from "../../../libs/b/src/b.ts";\n',
    },
  },
  kept: {
    "libs/a/src/deep/a.ts": 'import { b } from "../b.ts";\n',
    "test/tidy/a.ts": 'import { root } from "../../scripts/lib/root.ts";\n',
    "vitest.config.ts": 'import { order } from "./scripts/lib/order.ts";\n',
    "test/compat/a.ts": 'import { fold } from "../../services/a/src/core/fold.ts";\n',
    "services/a/src/text.ts": "export const where = 1;\nsay('read from', \"../../../libs/b\");\n",
  },
};

const pure = /^@trainyard\/(kernel$|(access|contracts|search|scheduling|experiment-config)(\/|$))/;
/** The machine's clock and processes, for shells; the kernel does not export them from its index. */
const system = /^libs\/kernel\/src\/system\//;
const pureLibs = ["libs/access", "libs/kernel", "libs/search", "libs/scheduling"];

export const pureCores: Rule = {
  name: "a core imports cores and pure libs only",
  check: (repository) =>
    importsOf(
      repository,
      sourcesOf(repository).filter((file) => !isTestCode(file)),
    ).flatMap(({ file, what }) => {
      const inCore = coreOf(file) !== undefined;
      const inPureLib = pureLibs.includes(packageOf(file)) && !system.test(file);
      if (!inCore && !inPureLib) return [];
      if (what.startsWith(".")) return leavesCore(file, what) ? [`${file} imports ${what}`] : [];
      return pure.test(what) ? [] : [`${file} imports ${what}`];
    }),
  violations: {
    "a core that reads files": {
      "services/a/src/core/a.ts": 'import { readFileSync } from "node:fs";\n',
    },
    "a core that knows its shell": {
      "services/a/src/core/a.ts": 'import { b } from "../shell/b.ts";\n',
    },
    "a room's core that knows its room": {
      "services/a/src/live/core/a.ts": 'import { b } from "../b.ts";\n',
    },
    "a core with a database": { "services/a/src/core/a.ts": 'import pg from "pg";\n' },
    "a core with the bus": {
      "services/a/src/core/x/a.ts": 'import type { Bus } from "@trainyard/bus";\n',
    },
    "a core with the machine's clock": {
      "services/a/src/core/a.ts": 'import { systemClock } from "@trainyard/kernel/system-clock";\n',
    },
    "a pure lib with Node": { "libs/search/src/a.ts": 'import process from "node:process";\n' },
  },
  kept: {
    "services/a/src/core/a/b.ts":
      'import { limits } from "../../limits.ts";\nimport { c } from "../c.ts";\n',
    "services/a/src/live/core/a.ts":
      'import { limits } from "../limits.ts";\nimport { c } from "../../read-model/core/c.ts";\n',
    "services/a/src/core/a.test.ts": 'import { readFileSync } from "node:fs";\n',
    "services/a/src/shell/a.ts": 'import pg from "pg";\n',
  },
};

/** The core that has the file: of a service, or of one of its rooms. */
const coreOf = (file: string): string | undefined =>
  /^services\/[^/]+\/src\/(?:[^/]+\/)?core\//.exec(file)?.[0];

/** A core may import the cores of other rooms, and the limits beside it, which are only numbers. */
function leavesCore(file: string, what: string): boolean {
  const core = coreOf(file);
  if (core === undefined) return false;
  const target = normalize(join(dirname(file), what));
  return coreOf(target) === undefined && target !== join(dirname(core), "limits.ts");
}
