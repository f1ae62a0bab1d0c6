/** Pages of promises: each promise is a list item with two nested items, `where:` and `test:`. */
import { type Contents, linesOf, type Repository, type Rule } from "../rule.ts";

const index = "docs/contracts.md";
const pages = /^docs\/contracts\/[^/]+\.md$/;
const longest = 160;

/** Matches code in backticks that is a path of this repository. */
const path = /`([^`\s]+\.(?:ts|tsx|py|sql|proto|md|mjs|json|yaml))`/g;
/** A title in straight quotes. */
const title = /"([^"]+)"/g;

export const contractsHold: Rule = {
  name: "every promise in docs/contracts names a test that is there, by its title, in short lines",
  check: (repository) => {
    const files = repository.files.filter((file) => pages.test(file));
    const promises = files.flatMap((file) => promisesOf(repository, file));
    if (promises.length === 0) return ["docs/contracts has no promises"];
    return [
      ...files.flatMap((file) => longLines(repository, file)),
      ...rowsOfTables(repository, [index, ...files]),
      ...promises.flatMap((promise) => problemsOf(repository, promise)),
    ];
  },
  violations: {
    "no promise": { "docs/contracts/log.md": "# Promises\n" },
    "a test that is gone": page('`libs/a/src/gone.test.ts`, "keeps"'),
    "a title that is gone": page('`a.test.ts`, "loses"'),
    "no test at all": page("by hand"),
    "a place that is gone": { ...page("`a.test.ts`"), "libs/a/src/port.ts": undefined },
    "a file that is no test": page("`port.ts`"),
    "a promise without a place": {
      ...page("`a.test.ts`"),
      "docs/contracts/log.md": "- it holds\n  - test: `a.test.ts`\n",
    },
    "a long line": page(`\`a.test.ts\`, "keeps" ${"(and so on) ".repeat(14)}`),
    "a row of a table": {
      ...page("`a.test.ts`"),
      [index]: "| it holds | `port.ts` | `a.test.ts` |\n",
    },
  },
  kept: page('`a.test.ts`, "keeps\n    what"'),
};

function page(test: string): Contents {
  return {
    "docs/contracts/log.md": `# Promises\n\n- it holds\n  - where: \`libs/a/src/port.ts\`\n  - test: ${test}\n`,
    "libs/a/src/a.test.ts": 'it("keeps what it is given", () => {});\n',
    "libs/a/src/port.ts": "",
  };
}

type Promised = { readonly at: string; readonly where: string; readonly test: string };

/** The promises of a page, with the lines of each item joined. */
function promisesOf(repository: Repository, file: string): readonly Promised[] {
  const found: { at: string; where: string; test: string }[] = [];
  let part: "where" | "test" | null = null;
  for (const [index, line] of linesOf(repository, file).entries()) {
    const [, label = "", text = ""] = /^ {2}- (where|test): (.*)$/.exec(line) ?? [];
    const last = found.at(-1);
    if (line.startsWith("- ")) {
      found.push({ at: `${file}:${index + 1}`, where: "", test: "" });
      part = null;
    } else if (label === "where" || label === "test") {
      part = label;
      if (last !== undefined) last[part] = text;
    } else if (part !== null && last !== undefined && line.startsWith("    ")) {
      last[part] += ` ${line.trim()}`;
    }
  }
  return found;
}

function longLines(repository: Repository, file: string): readonly string[] {
  return linesOf(repository, file)
    .map((line, index) => ({ line, at: `${file}:${index + 1}` }))
    .filter(({ line }) => line.length > longest)
    .map(({ at }) => `${at}  has more than ${longest} characters`);
}

/** Promises were once rows of a table; a merge may bring such a row back. */
function rowsOfTables(repository: Repository, files: readonly string[]): readonly string[] {
  return files
    .filter((file) => repository.files.includes(file))
    .flatMap((file) =>
      linesOf(repository, file)
        .map((line, index) => ({ line, at: `${file}:${index + 1}` }))
        .filter(({ line }) => /^\|.*`[^`]*\.ts`/.test(line))
        .map(({ at }) => `${at}  a promise is a list item of docs/contracts, with where and test`),
    );
}

function problemsOf(repository: Repository, { at, where, test }: Promised): readonly string[] {
  if (where === "" || test === "") return [`${at}  a promise has "where:" and "test:" below it`];
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
        !texts.some((text) => words.split("…").every((piece) => text.includes(piece.trim()))),
    )
    .map((words) => `${at}  no test there says "${words}"`);
  return [...missing, ...untrue];
}

const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(path)].map((match) => match[1] ?? "");

/** A file may be named by its whole path, or by the end of it. */
function filesCalled({ files }: Repository, name: string): readonly string[] {
  return files.filter((file) => file === name || file.endsWith(`/${name}`));
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/contract(\/|\.ts$)|\/tests?\/.*\.py$|^test\//.test(file);
}
