import { isTestCode, linesThat, type Rule, sourcesOf } from "../rule.ts";

const shouted = new Set([
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "SECURITY.md",
  "STYLE.md",
  // The file name that buildah and podman look for.
  "Containerfile",
  // The file names that helm looks for.
  "Chart.yaml",
  "NOTES.txt",
]);
const kebab = /^\.?[a-z0-9]+(-[a-z0-9]+)*$/;
const python = /^[a-z0-9_]+$/;

export const kebabCase: Rule = {
  name: "files and folders are named in kebab-case",
  check: (repository) =>
    repository.files
      // Excludes generated code, fixtures named after their content, and file names that an example's tools or GitHub
      // require.
      .filter((file) => !/\/gen\/|^test\/compat\/|^examples\/|^\.github\//.test(file))
      .flatMap((file) =>
        file
          .split("/")
          .filter((part, at, all) => !isNamed(part, at, all))
          .map((part) => `${file}: ${part}`),
      ),
  violations: {
    "a capital": { "libs/a/src/eventLog.ts": "" },
    "an underscore": { "libs/a/src/event_log.ts": "" },
    "a folder": { "libs/EventLog/src/index.ts": "" },
  },
  kept: {
    "README.md": "",
    "libs/a-b/src/index.test.ts": "",
    "libs/py/tests/test_spool.py": "",
    "services/x/migrations/0001_first_tables.sql": "",
    "libs/x/migrations/0001_first/functions/move_cursor.sql": "",
    ".gitignore": "",
    "deploy/images/a/Containerfile": "",
    "deploy/helm/a/Chart.yaml": "",
    "deploy/helm/a/templates/_service.tpl": "",
    ".github/ISSUE_TEMPLATE/defect.yml": "",
  },
};

function isNamed(part: string, at: number, all: readonly string[]): boolean {
  if (at < all.length - 1) return kebab.test(part) || python.test(part);
  if (shouted.has(part)) return true;
  const [stem = "", ...ends] = part.startsWith(".") ? [part.slice(1)] : part.split(".");
  const end = ends.at(-1);
  if (end === "py" || end === "typed") return python.test(stem);
  if (end === "sql") return python.test(stem);
  if (end === "proto") return python.test(stem);
  // Helm reads definitions, and no objects, from a template whose name begins so.
  if (end === "tpl") return stem.startsWith("_") && kebab.test(stem.slice(1));
  return [stem.replaceAll(".", "-"), ...ends].every((piece) => kebab.test(piece));
}

export const plainNames: Rule = {
  name: "nothing is called a Manager, Helper, Util, Base or Impl",
  check: (repository) => [
    ...repository.files
      .filter((file) => /\.(ts|py)$/.test(file))
      .filter((file) => /(^|[-_/])(managers?|helpers?|utils?|impl)(?=[-_.])/.test(file))
      .map((file) => `${file}: name it after what it does`),
    ...linesThat(
      repository,
      sourcesOf(repository),
      /^export (?:abstract )?(?:class|function|const|type|interface) \w*(?:Manager|Helper|Utils?|Impl)\b|^export abstract class Base/,
      "name it after what it does",
    ),
  ],
  violations: {
    "a file": { "libs/a/src/string-utils.ts": "" },
    "a class": { "libs/a/src/slots.ts": "export class SlotManager {\n" },
    "a port's adapter": {
      "libs/a/src/log.ts": "export class EventLogImpl implements EventLog {\n",
    },
  },
  kept: { "libs/a/src/implied.ts": "export class Implied {}\nconst baseUrl = 1;\n" },
};

const participle = "(?:Asked|Given|Told|Heard|Kept|Look|Noted)";

export const nouns: Rule = {
  name: "exported names are nouns of the field, not asked, given, told, heard, kept, look or noted",
  check: (repository) =>
    linesThat(
      repository,
      sourcesOf(repository).filter((file) => !isTestCode(file)),
      new RegExp(
        `^export (?:async )?(?:class|function|const|type|interface) (?:${participle}(?![a-z])|\\w*[a-z]${participle}(?![a-z])|${participle.toLowerCase()}[A-Z])`,
      ),
      "name it after what it is: a request, a reply, a filter, a table",
    ),
  violations: {
    "a type": { "libs/a/src/list.ts": "export type Asked = string;\n" },
    "a compound": { "libs/a/src/list.ts": "export type AskedList = string;\n" },
    "the end of a name": { "libs/a/src/gcs.ts": "export type GcsAsked = string;\n" },
    "a function": { "libs/a/src/points.ts": "export function givenPoints(): void {}\n" },
  },
  kept: {
    "libs/a/src/list.ts":
      "export type Lookup = string;\nexport const masked = 1;\nconst asked = 1;\n",
    "libs/a/src/testing/given.ts": "export type Given = string;\n",
  },
};
