import { linesThat, type Repository, type Rule } from "../rule.ts";

const text = /\.(ts|mjs|py|md|sql|proto|ya?ml|json|sh)$|(^|\/)(LICENSE|run|\.npmrc)$/;

function written({ files }: Repository): readonly string[] {
  return files.filter((file) => text.test(file) && !file.startsWith("test/tidy/rules/"));
}

export const noRegistryAddresses: Rule = {
  name: "no address of a package registry, in lock files least of all",
  check: (repository) => [
    ...linesThat(
      repository,
      written(repository),
      /\b(registry|npm|pypi|mirror|proxy|artifactory|nexus)[a-z0-9-]*\.[a-z0-9.-]+\.(org|com|net|io|dev|internal)\b|\b(npmjs|yarnpkg)\.(org|com)\b|\bpypi\.org\b/i,
      "whoever installs chooses the registry",
    ),
    ...linesThat(
      repository,
      repository.files.filter((file) =>
        /(^|\/)(pnpm-lock\.yaml|package-lock\.json|yarn\.lock)$/.test(file),
      ),
      /https?:\/\/|\btarball:/,
      "a lock file names versions and digests",
    ),
  ],
  violations: {
    "in a lock file": {
      "pnpm-lock.yaml": "    resolution: {tarball: https://example.com/a.tgz}\n",
    },
    "in a setting": { ".npmrc": "registry=https://registry.npmjs.org/\n" },
    "in code": { "scripts/a.ts": 'const url = "https://pypi.org/simple";\n' },
  },
  kept: {
    "pnpm-lock.yaml": "    resolution: {integrity: sha512-abc}\n",
    "a.ts": 'serve("http://registry");\n',
  },
};

export const noForeignThings: Rule = {
  name: "nothing names somebody's machine, a ticket, or work that is left undone",
  check: (repository) => [
    ...linesThat(
      repository,
      written(repository).filter((file) => !/\.test\.ts$|^libs\/sdk-python\/tests\//.test(file)),
      /(?<![\w.}\])~-])\/(work|Users|home\/[a-z]+|tmp\/plan|mnt)\/|(?<![\w.}\])~-])\/root\//,
      "a path on somebody's machine",
    ),
    ...linesThat(
      repository,
      written(repository).filter((file) => !/(^|\/)pnpm-lock\.yaml$/.test(file)),
      /\b(issue|ticket|pull request) #?\d+\b|\b(TODO|FIXME|XXX|HACK)\b|\bfor now\b|\bplaceholder (until|for)\b/,
      "say what is, and do the rest",
    ),
    ...linesThat(
      repository,
      written(repository),
      /\b(AI|coding|language) (assistant|agent|model)s?\b|\bas an AI\b|\bLLM-generated\b|\bCo-authored-by\b/i,
      "who wrote it is in the history",
    ),
  ],
  violations: {
    "a path": { "docs/a.md": "Look into /home/ada/trainyard/README.md.\n" },
    "a ticket": { "libs/a/src/a.ts": "// As issue 12 asks.\n" },
    "a note to oneself": { "libs/a/src/a.ts": `// TO${"DO"}: retry\n` },
    "an interim": { "services/a/README.md": "The page is plain for now.\n" },
    "an author": { "README.md": "Written with a coding assistant.\n" },
  },
  kept: { "docs/a.md": "See ${root}/mnt/x, https://a.example/home/ada/ and the issues page.\n" },
};
