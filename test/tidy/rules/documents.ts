import { dirname, join, normalize } from "node:path";
import { type Contents, linesOf, type Repository, type Rule } from "../rule.ts";

const contracts = "docs/contracts.md";

/** Code in backticks that is a path of ours. */
const path = /`([^`\s]+\.(?:ts|py|sql|proto|md|mjs|json|yaml))`/g;
/** A title in straight quotes. */
const title = /"([^"]+)"/g;

export const contractsHold: Rule = {
  name: "every promise in docs/contracts.md names a test that is there, by its title",
  check: (repository) => {
    if (!repository.files.includes(contracts)) return [`there is no ${contracts}`];
    const lines = linesOf(repository, contracts);
    const rows = lines
      .map((line, index) => ({
        line,
        at: `${contracts}:${index + 1}`,
        next: lines[index + 1] ?? "",
      }))
      // A table's head is what stands above its rule.
      .filter(({ line, next }) => line.startsWith("|") && !isRule(line) && !isRule(next));
    if (rows.length === 0) return [`${contracts} has no rows`];
    return rows.flatMap(({ line, at }) => rowProblems(repository, line, at));
  },
  violations: {
    "no table": { [contracts]: "# Promises\n" },
    "a test that is gone": row('`libs/a/src/gone.test.ts`, "keeps"'),
    "a title that is gone": row('`a.test.ts`, "loses"'),
    "no test at all": row("by hand"),
    "a place that is gone": { ...row("`a.test.ts`"), "libs/a/src/port.ts": undefined },
    "a file that is no test": row("`port.ts`"),
  },
  kept: row('`a.test.ts`, "keeps"'),
};

function row(test: string): Contents {
  return {
    [contracts]: `| promise | where | test |\n| --- | --- | --- |\n| it holds | \`libs/a/src/port.ts\` | ${test} |\n`,
    "libs/a/src/a.test.ts": 'it("keeps what it is given", () => {});\n',
    "libs/a/src/port.ts": "",
  };
}

function rowProblems(repository: Repository, line: string, at: string): readonly string[] {
  const [promise = "", where = "", test = "", ...rest] = line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
  if (promise === "" || where === "" || test === "" || rest.length > 0) {
    return [`${at}  a row is: promise | where it is made | test`];
  }
  const missing = namesIn(`${where} ${test}`)
    .filter((name) => filesCalled(repository, name).length === 0)
    .map((name) => `${at}  there is no ${name}`);
  const files = namesIn(test).flatMap((name) => filesCalled(repository, name));
  if (!files.some(isTest)) return [...missing, `${at}  names no test`];
  const texts = files.map((file) => repository.read(file));
  const untrue = [...test.matchAll(title)]
    .map((match) => match[1] ?? "")
    .filter(
      (words) =>
        !texts.some((text) => words.split("…").every((part) => text.includes(part.trim()))),
    )
    .map((words) => `${at}  no test there says "${words}"`);
  return [...missing, ...untrue];
}

const isRule = (line: string): boolean => /^\|[\s|:-]+\|$/.test(line);

const namesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(path)].map((match) => match[1] ?? "");

/** A file may be called by its whole path, or by the end of it where that is clear from the row. */
function filesCalled({ files }: Repository, name: string): readonly string[] {
  return files.filter((file) => file === name || file.endsWith(`/${name}`));
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/contract(\/|\.ts$)|\/tests?\/.*\.py$|^test\//.test(file);
}

export const linksHold: Rule = {
  name: "a link in a document leads to a file that is there",
  check: (repository) =>
    repository.files
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) =>
        [...withoutCode(repository.read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
          file,
          link: match[1] ?? "",
        })),
      )
      .filter(({ link }) => !/^(https?:|mailto:|#)/.test(link))
      .filter(({ file, link }) => !leads(repository, file, link))
      .map(({ file, link }) => `${file} links to ${link}`),
  violations: { "a page that is gone": { "docs/a.md": "See [there](b.md).\n" } },
  kept: {
    "docs/a.md": "See [there](sub/b.md#part), [all](sub/) and [home](https://a.example).\n",
    "docs/sub/b.md": "",
  },
};

const withoutCode = (markdown: string): string =>
  markdown.replace(/```.*?```/gs, "").replace(/`[^`]*`/g, "");

function leads({ files }: Repository, from: string, link: string): boolean {
  const target = normalize(join(dirname(from), link.replace(/#.*$/, ""))).replace(/\/$/, "");
  return target === "." || files.some((file) => file === target || file.startsWith(`${target}/`));
}
