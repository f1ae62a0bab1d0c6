/**
 * A house rule that no tool checks: a function over the repository's files that returns the violations. Each rule
 * contains made-up violations, and the self-test checks that it fails on every one: a rule that never fails proves
 * nothing.
 */
export interface Repository {
  /** Paths from the root, sorted. */
  readonly files: readonly string[];
  read(path: string): string;
}

export type Rule = {
  readonly name: string;
  readonly check: (repository: Repository) => readonly string[];
  /** Small repositories, each of which breaks the rule; its name says how. */
  readonly violations: Readonly<Record<string, Contents>>;
  /** A repository that keeps the rule, and comes close to breaking it. */
  readonly kept: Contents;
};

/** A made-up repository; an undefined file is left out. */
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

/** TypeScript written by people: generated code has its own rules. */
export function sourcesOf(repository: Repository): readonly string[] {
  return repository.files.filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !generated.test(file));
}

export function linesOf(repository: Repository, file: string): readonly string[] {
  return repository.read(file).replace(/\n$/, "").split("\n");
}

/** True for tests, and for modules that only tests use: a port's contract is a suite of tests. */
export function isTestCode(file: string): boolean {
  return /\.test\.ts$|^test\/|\/(testing|fixtures|contract)\/|\/contract\.ts$/.test(file);
}

/** Returns `file:line what` for every line that matches the pattern. */
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
