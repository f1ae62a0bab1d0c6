/** Comments are read alone: they begin with the noun that they explain, and fit 120 columns. */
import { linesOf, type Repository, type Rule } from "../rule.ts";

const source = /\.(ts|tsx|mjs|py|proto)$/;
/** First words that name nothing, refer to something outside the comment, or make it a fragment. */
const first =
  "What|Who|Whoever|Whatever|Whose|Which|Of|As|It|Its|They|Their|Those|These|Both|So|But|And|Also";
/** The marker of a comment or docstring at the beginning of a line or behind code, and its first word. */
const marked = new RegExp(`^(?:\\s*(/\\*\\*?|//|#|"""|\\*)|[^"'\`]*\\s(//|#)) ?(?:${first})\\b`);

export const commentsBegin: Rule = {
  name: "a comment begins with its subject: not with What, It or Of",
  check: (repository) =>
    repository.files
      .filter((file) => source.test(file) && !/(^|\/)gen\//.test(file))
      .flatMap((file) => beginnings(repository, file)),
  violations: {
    "one line": { "services/a/src/a.ts": "/** What is shown. */\nexport const a = 1;\n" },
    "a field": { "services/a/src/a.ts": "type A = {\n  // Who asks.\n  b: string;\n};\n" },
    "several lines": { "libs/a/src/a.ts": "/**\n * Whoever asks\n * gets it.\n */\n" },
    "a docstring": { "libs/a/a.py": 'def a():\n    """What it does."""\n' },
    "behind code": { "libs/a/a.py": "a = 1  # What counts.\n" },
    "a message": { "proto/a.proto": "// What is asked.\nmessage A {}\n" },
    "a pronoun": { "libs/a/src/a.ts": "// It is read once.\n" },
    "a fragment": { "libs/a/src/a.ts": "/** Of the oldest run. */\n" },
  },
  kept: {
    "services/a/src/a.ts":
      '// The answer says what happened.\n// What follows is its second sentence.\nconst why = "Who goes on";\n',
    "libs/a/a.py": '"""Returns\nWho asked."""\n',
  },
};

function beginnings(repository: Repository, file: string): readonly string[] {
  const lines = linesOf(repository, file);
  return lines.flatMap((line, index) => {
    const [, atStart, behind] = marked.exec(line) ?? [];
    const marker = atStart ?? behind;
    if (marker === undefined) return [];
    const before = (lines[index - 1] ?? "").trim();
    // The line continues a comment that began above.
    if (marker === "*" ? before !== "/**" : before.startsWith(marker)) return [];
    return [`${file}:${index + 1}  begin with the noun: ${line.trim()}`];
  });
}

const widest = 120;
/** Comments on lines of their own; ruff measures comments of Python. */
const commentLine = /^\s*(\/\/|\/\*|\*)/;
/** Directives and addresses cannot be broken into lines. */
const unbroken = /oxlint-|biome-|@ts-|https?:/;

export const commentsFit: Rule = {
  name: `a line of a comment has at most ${widest} characters`,
  check: (repository) =>
    repository.files
      .filter((file) => /\.(ts|tsx|mjs|proto|css)$/.test(file) && !/(^|\/)gen\//.test(file))
      .flatMap((file) =>
        linesOf(repository, file)
          .map((line, index) => ({ line, at: `${file}:${index + 1}` }))
          .filter(({ line }) => line.length > widest && commentLine.test(line))
          .filter(({ line }) => !unbroken.test(line))
          .map(({ at }) => `${at}  wrap the comment at ${widest} characters`),
      ),
  violations: {
    "one line": { "libs/a/src/a.ts": `/** ${"word ".repeat(24)}*/\n` },
    "a line of a block": { "libs/a/src/a.ts": `/**\n * ${"word ".repeat(24)}\n */\n` },
    "a line of a message": { "proto/a.proto": `// ${"word ".repeat(24)}\n` },
  },
  kept: {
    "libs/a/src/a.ts": `// ${"a".repeat(117)}\n// https://a.example/${"a".repeat(120)}\nconst a = "${"a".repeat(120)}";\n`,
  },
};
