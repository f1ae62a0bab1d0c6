import { linesThat, type Rule, sourcesOf } from "../rule.ts";

/** The files that may read the environment, with the reason. All other code takes a configuration as an argument. */
const readers: readonly (readonly [RegExp, string])[] = [
  [/^services\/[^/]+\/src\/(config|environment)\.ts$/, "the one reader of a service"],
  [/^libs\/runtime\/src\/service\/environment\.ts$/, "what every main.ts calls"],
  [/^libs\/kernel\/src\/system\/program-file\.ts$/, "the files of programs, for all who start one"],
  [/^deploy\/local\//, "it starts processes, and passes the environment on"],
  [/^(scripts|test)\//, "started by people"],
  [/^libs\/bus\/src\/server\//, "starts a nats-server for tests and the local cluster"],
  [/\.test\.ts$|\/testing\//, "a test"],
];

export const environmentInConfig: Rule = {
  name: "the environment is read in config.ts only",
  check: (repository) =>
    linesThat(
      repository,
      sourcesOf(repository).filter((file) => !readers.some(([pattern]) => pattern.test(file))),
      /\bprocess\.env\b|\benv\b.*from "node:process"/,
      "take it as an argument",
    ),
  violations: {
    "a shell": { "services/a/src/shell/a.ts": 'const url = process.env["URL"];\n' },
    "a lib": { "libs/a/src/a.ts": "const { HOME } = process.env;\n" },
    "by another way": { "libs/a/src/a.ts": 'import { env } from "node:process";\n' },
  },
  kept: {
    "services/a/src/config.ts": "return process.env;\n",
    "libs/a/src/a.ts": "process.environment;\n",
  },
};
