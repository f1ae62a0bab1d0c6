import { linesThat, type Rule } from "../rule.ts";

/** Texts of code and pages, except the rules, which quote the words that they refuse. */
const text = /^(?!test\/tidy\/).*\.(ts|tsx|mjs|py|proto|sql|md)$/;
/** Released messages are frozen, and the page of events follows them. */
const frozen = /(^|\/)gen\/|\.proto$|^docs\/events\.md$/;
/** The folders that are already free of the other words. */
const rewritten = /^(services\/(gateway|logs|registry)|libs\/sdk-python)\/src\/.*\.(ts|py)$/;

type Word = { readonly pattern: RegExp; readonly instead: string };

/** Words that are refused everywhere except in frozen texts. */
const everywhere: readonly Word[] = [
  {
    pattern:
      /\b(?:[Gg]oes|[Ww]ent) on\b(?! (?:a|an|the|its|their|this|that|each|one|every|which|it)\b)/,
    instead: 'write "continues"',
  },
  { pattern: /\b[Ww]hoever\b/, instead: "name the one that does it" },
  {
    pattern: /\b(?:is|are|was|were|be|been|being) told\b|\b(?:told|tells?) (?:of|apart)\b/,
    instead: 'write "reports", "returns", "logs" or "distinguishes"',
  },
  { pattern: /\blies\b/, instead: 'write "is"' },
  { pattern: /(?<!\.)\b[Aa]fresh\b(?![(`])|\b[Aa]new\b/, instead: 'write "again"' },
  {
    pattern: /\bstands\b(?! (?:for|in|out)\b)(?!$)/,
    instead: 'write "wins", "is kept", "stalls" or "is"',
  },
  {
    pattern: /\b(?:comes?|came) to (?:its|an|their) ends?\b|\b(?:has|have|had) come to\b/,
    instead: 'write "ends" or "has reached"',
  },
  { pattern: /(?<![Tt]here )\bis nothing to\b/, instead: "say what happens" },
  { pattern: /\bfor ever\b/, instead: 'write "forever"' },
  { pattern: /(?<!keyboard )\brests on\b/, instead: 'write "depends on"' },
  { pattern: /\bso many at most\b/, instead: 'write "at most"' },
];

export const plainWords: Rule = {
  name: "texts say continues, retries and returns in the words that engineers search for",
  check: (repository) => {
    const texts = repository.files.filter((file) => text.test(file) && !frozen.test(file));
    const files = texts.filter((file) => rewritten.test(file));
    return [
      ...everywhere.flatMap(({ pattern, instead }) =>
        linesThat(repository, texts, pattern, instead),
      ),
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
    whoever: { "docs/a.md": "It is kept for whoever asks.\n" },
    "is nothing to": {
      "libs/sdk-python/src/a.py": "# A machine without GPUs is nothing to fear.\n",
    },
    "is told": { "services/logs/src/a.ts": "/** The caller is told to come again. */\n" },
    "told apart": { "libs/a/src/a.ts": "// Kinds, told apart by a key.\n" },
    lies: { "README.md": "The folder that it lies in.\n" },
    afresh: { "libs/a/src/a.ts": "// It is folded afresh.\n" },
    "anew in SQL": { "services/a/migrations/0001_a.sql": "-- It is counted anew.\n" },
    anew: { "libs/a/src/a.py": "# It begins anew.\n" },
    stands: { "libs/a/src/a.ts": "// The first one stands.\n" },
    "comes to its end": { "libs/a/src/a.ts": "// A search comes to its end.\n" },
    "has come to": { "libs/a/src/a.ts": "// A trial that has come to a rung.\n" },
    "for ever": { "libs/a/src/a.ts": "// It waits for ever.\n" },
    "rests on": { "libs/a/src/a.ts": "// A decision rests on events.\n" },
    "so many at most": { "libs/a/src/a.ts": "// So is a page: so many at most.\n" },
  },
  kept: {
    "services/gateway/src/a.ts": "// The trial continues. A vote goes on the list.\n",
    "libs/a/src/a.test.ts": "stage.afresh();\n",
    "libs/a/src/b.ts": "// A star stands for all. Told so, it ends.\n",
  },
};
