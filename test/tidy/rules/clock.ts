import { isTestCode, linesThat, type Repository, type Rule, sourcesOf } from "../rule.ts";

const production = /^(libs|services|deploy)\//;

/** The files that may read the machine's clock, with the reason. All other code takes a Clock as an argument. */
const readers: readonly (readonly [RegExp, string])[] = [
  [/^libs\/kernel\/src\/system\/system-clock\.ts$/, "the adapter itself"],
  [/^libs\/(bus|event-log)\/src\//, "adapters to servers, and their doubles in memory by default"],
  [/^libs\/client\/src\//, "a client in a user's program"],
  [/^libs\/runtime\/src\/service\/parts\.ts$/, "puts services together"],
  [/^services\/agent\/src\/(service|supervisor\/main)\.ts$/, "put their process together"],
  [/^libs\/migrate\/src\/main\.ts$/, "puts its process together"],
  [/^services\/gateway\/src\/main\.ts$/, "puts a command of operators together"],
  [/^services\/cli\/src\/option-values\.ts$/, "the time that a person means by 10m ago"],
  [/^libs\/blob\/src\/directory-disk\.ts$/, "runs in processes, to which no clock can be sent"],
  [
    /^services\/(registry\/src\/shell\/inspect|agent\/src\/screens\/screen)-worker\.ts$/,
    "threads, to which no clock can be sent",
  ],
  [/^services\/web\/src\/data\/clock\.ts$/, "the clock of the browser"],
  [/^deploy\/local\/src\//, "starts and watches processes of this machine"],
];

function sources(repository: Repository): readonly string[] {
  return sourcesOf(repository).filter((file) => production.test(file) && !isTestCode(file));
}

export const timeFromClock: Rule = {
  name: "the time is read from the Clock port",
  check: (repository) => [
    ...linesThat(
      repository,
      sources(repository).filter((file) => file !== "libs/kernel/src/system/system-clock.ts"),
      /\bDate\.now\b|\bperformance\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)/,
      "take a Clock",
    ),
    ...linesThat(
      repository,
      sources(repository).filter((file) => !readers.some(([pattern]) => pattern.test(file))),
      /from "@trainyard\/kernel\/system-clock"/,
      "take a Clock",
    ),
  ],
  violations: {
    "the wall time": { "services/a/src/shell/a.ts": "const atMs = Date.now();\n" },
    "the monotonic time": { "libs/a/src/a.ts": "const fromMs = performance.now();\n" },
    "the wall time as a function": { "libs/a/src/a.ts": "const clock = Date.now;\n" },
    "the date": { "deploy/local/src/a.ts": "log(new Date().toISOString());\n" },
    "the machine's clock in a shell": {
      "services/a/src/shell/a.ts":
        'import { systemClock } from "@trainyard/kernel/system-clock";\n',
    },
  },
  kept: {
    "services/a/src/shell/a.ts":
      "const text = new Date(clock.nowMs()).toISOString();\nconst fromMs = clock.monotonicMs();\n",
    "services/a/src/a.test.ts": "const atMs = Date.now();\n",
    "libs/runtime/src/service/parts.ts":
      'import { systemClock } from "@trainyard/kernel/system-clock";\n',
    "test/bench/a.ts": "const atMs = Date.now();\nconst fromMs = performance.now();\n",
  },
};
