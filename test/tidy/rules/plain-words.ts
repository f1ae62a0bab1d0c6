import { linesThat, type Rule } from "../rule.ts";

/** Texts of code; the rules themselves quote the words that they refuse. */
const text = /^(?!test\/tidy\/).*\.(ts|tsx|mjs|py|proto)$/;
/** The folders that have none of the other words any more. */
const rewritten = /^(services\/(gateway|logs|registry)|libs\/sdk-python)\/src\/.*\.(ts|py)$/;

export const plainWords: Rule = {
  name: "texts say continues, retries and returns in the words that engineers search for",
  check: (repository) => {
    const texts = repository.files.filter((file) => text.test(file) && !/\/gen\//.test(file));
    const files = texts.filter((file) => rewritten.test(file));
    return [
      ...linesThat(
        repository,
        texts,
        /\b(?:[Gg]oes|[Ww]ent) on\b(?! (?:a|an|the|its|their|this|that|each|one|every|which|it)\b)/,
        'write "continues"',
      ),
      ...linesThat(repository, texts, /\bWhoever\b/, "name the one that does it"),
      ...linesThat(repository, files, /\bis nothing to\b/, "say what happens"),
      ...linesThat(
        repository,
        files,
        /\b(?:is|are) told to (?:come|repeat|try)\b/,
        'write "is asked to retry"',
      ),
    ];
  },
  violations: {
    "goes on": { "services/gateway/src/a.ts": "// The trial goes on.\n" },
    "went on": { "test/sim/a.ts": 'test("the trial went on", () => {});\n' },
    Whoever: { "libs/a/src/a.ts": "// The key is kept. Whoever asks again gets it.\n" },
    "is nothing to": {
      "libs/sdk-python/src/a.py": "# A machine without GPUs is nothing to fear.\n",
    },
    "is told to": { "services/logs/src/a.ts": "/** The caller is told to come again. */\n" },
  },
  kept: {
    "services/gateway/src/a.ts": "// The trial continues. A vote goes on the list.\n",
  },
};
