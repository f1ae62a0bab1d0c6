import { linesThat, type Rule, sourcesOf } from "../rule.ts";

// Written in two parts, so that this file contains no suppression itself.
const never = new RegExp(`@ts-(?:${"ig"}nore|${"no"}check)\\b`);
const directive = new RegExp(
  `(?:ox${"lint"}|es${"lint"})-${"dis"}able|biome-${"ig"}nore|@ts-${"expect"}-error|#\\s*${"no"}qa|(?:type|pyright):\\s*${"ig"}nore|pragma: no cover`,
);
const reason = /(\s--?|:|—)\s+\S+\s+\S+/;

export const reasonedSuppressions: Rule = {
  name: "what a tool says is silenced only with a reason on the line",
  check: (repository) => {
    const files = [
      ...sourcesOf(repository),
      ...repository.files.filter((file) => file.endsWith(".py")),
    ].filter((file) => file !== "test/tidy/rules/suppressions.ts");
    return [
      ...linesThat(repository, files, never, "is never allowed"),
      ...files
        .flatMap((file) =>
          linesThat(repository, [file], directive, "give the reason after two dashes"),
        )
        .filter(
          (line) => !reason.test(line.replace(new RegExp(`^.*?(?:${directive.source})`), "")),
        ),
    ];
  },
  violations: {
    "no reason": { "a.ts": `// ox${"lint"}-${"dis"}able-next-line no-console\n` },
    "a whole file": { "a.ts": `// @ts-${"no"}check -- it is old and nobody knows\n` },
    "an ignored error": { "a.ts": `// @ts-${"ig"}nore -- the types are wrong here\n` },
    "Python's": { "a.py": `x = 1  # ${"no"}qa\n` },
    "pyright's": { "a.py": `x = 1  # pyright: ${"ig"}nore[reportX]\n` },
    "a type's, with words after it": { "a.py": `x = 1  # type: ${"ig"}nore[x] # see\n` },
  },
  kept: {
    "a.ts": `// ox${"lint"}-${"dis"}able-next-line no-console -- this is the command line\n`,
  },
};
