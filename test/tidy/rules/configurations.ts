import { linesThat, type Rule, sourcesOf } from "../rule.ts";

/** Matches `config["key"]`, `config?.[key]`, and a destructuring of it. */
const readsByHand = /\bconfig\)?!?(?:\?\.)?\[|\} = [\w?.]+\.config(?: \?\? \{\})?;/;

export const oneConfigurationReader: Rule = {
  name: "a service reads a recorded configuration through recordedConfig alone",
  check: (repository) =>
    linesThat(
      repository,
      sourcesOf(repository).filter(
        (file) => /^services\/[^/]+\/src\//.test(file) && !file.endsWith(".test.ts"),
      ),
      readsByHand,
      "reads the struct by hand",
    ),
  violations: {
    "a key by its name": {
      "services/a/src/core/a.ts": 'const pool = event.data.config["resources"];\n',
    },
    "a key of a struct that may be absent": {
      "services/a/src/shell/a.ts": 'const storage = config?.["checkpoint_storage"];\n',
    },
    "a key that is computed": { "services/a/src/a.ts": "const value = (data.config)[name];\n" },
    "a pattern": { "services/a/src/a.ts": "const { searcher } = event.data.config ?? {};\n" },
  },
  kept: {
    "services/a/src/core/a.ts":
      'type Json = EventData<"ExperimentCreated">["config"];\nconst { searcher } = recordedConfig(data.config);\n',
    "services/a/src/core/a.test.ts": 'expect(data.config["name"]).toBe("a");\n',
    "libs/a/src/a.ts": 'const name = config["name"];\n',
  },
};
