import { linesOf, type Repository, type Rule, sourcesOf } from "../rule.ts";

const readme = "README.md";
const heading = "## When it does not start";

export const sentencesHold: Rule = {
  name: "what the README says that the program says, the program says",
  check: (repository) => {
    if (!repository.files.includes(readme)) return [`there is no ${readme}`];
    const said = sentences(repository);
    if (said.length === 0) return [`${readme} says nothing under "${heading}"`];
    const sources = sourcesOf(repository).filter((file) => !/\.test\.ts$|^test\//.test(file));
    const texts = sources.map((file) => repository.read(file));
    return said
      .filter((sentence) => !texts.some((text) => holds(text, sentence)))
      .map((sentence) => `${readme}: nothing says "${sentence}"`);
  },
  violations: {
    "a sentence that changed": {
      [readme]: `${heading}\n\n| it says | do |\n| --- | --- |\n| No port was found on … | wait |\n`,
      "libs/a/src/a.ts": "fail(`No free port was found on ${host}`);\n",
    },
    "no sentence at all": { [readme]: "# A\n" },
  },
  kept: {
    [readme]: `${heading}\n\n| it says | do |\n| --- | --- |\n| No free port was found on … | wait |\n\n## Next\n\n| a | b |\n`,
    "libs/a/src/a.ts": "fail(`No free port was found on ${host}`);\n",
  },
};

/** The first cells of the table below the heading. */
function sentences(repository: Repository): readonly string[] {
  const lines = linesOf(repository, readme);
  const start = lines.indexOf(heading);
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  return lines
    .slice(start, end === -1 ? lines.length : end)
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) => line.split("|")[1]?.trim() ?? "");
}

/** An ellipsis stands for any text. */
function holds(text: string, sentence: string): boolean {
  const parts = sentence.split("…").map((part) => part.trim());
  return parts.every((part) => text.includes(part));
}
