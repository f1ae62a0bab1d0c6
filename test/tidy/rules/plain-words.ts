import { linesThat, type Rule } from "../rule.ts";

/** The folders whose texts were rewritten already. */
const rewritten = /^(services\/(gateway|logs|registry)|libs\/sdk-python)\/src\/.*\.(ts|py)$/;

export const plainWords: Rule = {
  name: "texts say continues, retries and returns in the words that engineers search for",
  check: (repository) => {
    const files = repository.files.filter((file) => rewritten.test(file) && !/\/gen\//.test(file));
    return [
      ...linesThat(repository, files, /\b[Gg]oes on\b(?! (?:a|an|the) )/, 'write "continues"'),
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
    "is nothing to": {
      "libs/sdk-python/src/a.py": "# A machine without GPUs is nothing to fear.\n",
    },
    "is told to": { "services/logs/src/a.ts": "/** The caller is told to come again. */\n" },
  },
  kept: {
    "services/gateway/src/a.ts": "// The trial continues. A vote goes on the list.\n",
  },
};
