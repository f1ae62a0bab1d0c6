import { isTestCode, linesThat, type Rule, sourcesOf } from "../rule.ts";

/** The services that reach directories which users name in a configuration. */
const services = /^services\/(registry|gateway|checkpoint-gc)\/src\//;

/** The files of these services that may read files, with the reason: none of the paths is a user's. */
const readers: readonly (readonly [RegExp, string])[] = [
  [/^services\/gateway\/src\/http\/web-files\.ts$/, "the built pages"],
  [/^services\/gateway\/src\/http\/api-documents\.ts$/, "the generated documents of the API"],
  [/^services\/gateway\/src\/spaces\/first-token\.ts$/, "the file of the first token"],
  [/^services\/gateway\/src\/people\/oidc\/secret-file\.ts$/, "the secret of a client"],
];

/** Functions that call the file system in the process of their caller. */
const direct = /\b(directoryDisk|readStorageMarker|markStorage|mendStorageMarker)\b/;

export const userFiles: Rule = {
  name: "a service reaches files of users only through StorageDisk, whose processes may hang",
  check: (repository) => {
    const files = sourcesOf(repository).filter((file) => services.test(file) && !isTestCode(file));
    const others = files.filter((file) => !readers.some(([pattern]) => pattern.test(file)));
    return [
      ...linesThat(repository, others, /from "node:fs(\/promises)?"/, "take a StorageDisk"),
      ...linesThat(repository, files, direct, "take a StorageDisk"),
    ];
  },
  violations: {
    "a service that lists a folder": {
      "services/registry/src/shell/a.ts": 'import { readdir } from "node:fs/promises";\n',
    },
    "a service that checks a path": {
      "services/gateway/src/api/a.ts": 'import { existsSync } from "node:fs";\n',
    },
    "a service that reads a marker by itself": {
      "services/checkpoint-gc/src/shell/a.ts": "await directoryDisk.seen(root);\n",
    },
  },
  kept: {
    "services/registry/src/shell/a.ts": "await disk.seen(root);\n",
    "services/registry/src/a.test.ts": 'import { readdir } from "node:fs/promises";\n',
    "services/gateway/src/http/web-files.ts": 'import { readdir } from "node:fs/promises";\n',
    "services/agent/src/a.ts": 'import { readdir } from "node:fs/promises";\n',
  },
};
