import { linesThat, type Rule, sourcesOf } from "../rule.ts";

/** A constant that says how a stream is folded. */
const fold = /^(?:export )?const \w+: (?:StreamFold|Aggregate|MachineFold)</;

export const streamsListed: Rule = {
  name: "a service lists the streams that it owns and folds in streams.ts",
  check: (repository) => {
    const others = sourcesOf(repository).filter(
      (file) =>
        /^services\/[^/]+\/src\//.test(file) &&
        !/\/src\/streams\.ts$|\.test\.ts$|\/testing\//.test(file),
    );
    return linesThat(repository, others, fold, "move it to streams.ts");
  },
  violations: {
    "a fold beside its use": {
      "services/a/src/shell/a.ts": "const names: StreamFold<State> = {\n",
    },
    "an exported aggregate": {
      "services/a/src/api/a.ts": "export const names: Aggregate<State, Command, Event> = {\n",
    },
  },
  kept: {
    "services/a/src/streams.ts": "export const names: StreamFold<State> = {\n",
    "services/a/src/shell/a.ts": "function load(fold: StreamFold<State>) {\n",
    "libs/runtime/src/testing/a.ts": "export const lamps: StreamFold<State> = {\n",
  },
};
