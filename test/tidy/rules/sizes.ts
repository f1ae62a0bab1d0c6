import { linesOf, type Repository, type Rule, sourcesOf } from "../rule.ts";

const fileLinesMax = 400;
/**
 * The longest proto file: a released message may grow, but may not move to another file. New messages go to new files.
 */
const protoLinesMax = 600;
const functionLinesMax = 70;

const manyLines = (count: number): string => "const x = 1;\n".repeat(count);

export const fileSize: Rule = {
  name: `a file has at most ${fileLinesMax} lines`,
  check: (repository) =>
    [...sourcesOf(repository), ...repository.files.filter((file) => /\.(py|sql|proto)$/.test(file))]
      .map((file) => ({ file, lines: linesOf(repository, file).length }))
      .filter(({ file, lines }) => lines > (file.endsWith(".proto") ? protoLinesMax : fileLinesMax))
      .map(({ file, lines }) => `${file} has ${lines} lines`),
  violations: {
    "a long source": { "libs/a/src/long.ts": manyLines(fileLinesMax + 1) },
    "a long module of Python": { "libs/a/long.py": manyLines(fileLinesMax + 1) },
    "a long protocol": { "proto/a.proto": manyLines(protoLinesMax + 1) },
  },
  kept: {
    "libs/a/src/just.ts": manyLines(fileLinesMax),
    "libs/a/src/gen/x.ts": manyLines(900),
    "proto/a.proto": manyLines(protoLinesMax),
  },
};

/** The linter measures functions of TypeScript (max-lines-per-function); Python has no other check. */
export const pythonFunctionSize: Rule = {
  name: `a function of Python has at most ${functionLinesMax} lines`,
  check: (repository) =>
    repository.files
      .filter((file) => file.endsWith(".py"))
      .flatMap((file) => longFunctions(repository, file)),
  violations: {
    "a long function": { "a.py": `def f():\n${"    x = 1\n".repeat(functionLinesMax)}` },
    "a long method": {
      "a.py": `class A:\n    async def f(self):\n${"        x = 1\n".repeat(functionLinesMax)}\n    y = 1\n`,
    },
  },
  kept: { "a.py": `def f():\n${"    x = 1\n".repeat(functionLinesMax - 1)}\n\ny = 1\n` },
};

function longFunctions(repository: Repository, file: string): readonly string[] {
  const lines = linesOf(repository, file);
  return lines.flatMap((line, index) => {
    const indent = /^(\s*)(?:async )?def /.exec(line)?.[1]?.length;
    if (indent === undefined) return [];
    const length = lengthOfBlock(lines.slice(index), indent);
    return length > functionLinesMax ? [`${file}:${index + 1} is ${length} lines long`] : [];
  });
}

/** Counts the lines up to the last one indented deeper than the head; a signature over several lines ends in `)`. */
function lengthOfBlock(lines: readonly string[], indent: number): number {
  let length = 1;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === "") continue;
    const depth = line.length - line.trimStart().length;
    if (depth <= indent && !line.trimStart().startsWith(")")) break;
    length = index + 1;
  }
  return length;
}
