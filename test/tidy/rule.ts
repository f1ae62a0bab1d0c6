/**
 * A house rule that no tool checks: a function over the repository's files that gives what breaks it. Each rule brings
 * made-up violations, and the self-test sees it fail on every one: a rule that finds nothing anywhere proves nothing.
 */
export interface Repository {
  /** Paths from the root, sorted. */
  readonly files: readonly string[];
  read(path: string): string;
}

export type Rule = {
  readonly name: string;
  readonly check: (repository: Repository) => readonly string[];
  /** Each a small repository, by path, that breaks the rule; named after what is wrong with it. */
  readonly violations: Readonly<Record<string, Contents>>;
  /** One that keeps it, and comes close to breaking it. */
  readonly kept: Contents;
};

/** A made-up repository; a file that is undefined is left out. */
export type Contents = Readonly<Record<string, string | undefined>>;

export function repositoryOf(contents: Contents): Repository {
  return {
    files: Object.keys(contents)
      .filter((path) => contents[path] !== undefined)
      .toSorted(),
    read(path) {
      const text = contents[path];
      if (text === undefined) throw new Error(`there is no ${path}`);
      return text;
    },
  };
}

const generated = /(^|\/)gen\//;

/** TypeScript that people wrote: the generated code has its own rules. */
export function sourcesOf(repository: Repository): readonly string[] {
  return repository.files.filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !generated.test(file));
}

export function linesOf(repository: Repository, file: string): readonly string[] {
  return repository.read(file).replace(/\n$/, "").split("\n");
}

/** Tests, and what only tests are made of. */
export function isTestCode(file: string): boolean {
  return /\.test\.ts$|\/(testing|fixtures|contract)\/|\/(test-[^/]*|testing|contract)\.ts$|-world\.ts$/.test(
    file,
  );
}

/** `file:line  what`, for every line that the pattern matches. */
export function linesThat(
  repository: Repository,
  files: readonly string[],
  pattern: RegExp,
  what: string,
): readonly string[] {
  return files.flatMap((file) =>
    linesOf(repository, file).flatMap((line, index) =>
      pattern.test(line) ? [`${file}:${index + 1}  ${what}: ${line.trim()}`] : [],
    ),
  );
}
