import { linesThat, type Rule, sourcesOf } from "../rule.ts";

/** Matches `config["key"]`, `config?.[key]`, `searcher["key"]`, and a destructuring of a configuration. */
const readsByHand = /\b(?:config|searcher)\)?!?(?:\?\.)?\[|\} = [\w?.]+\.config(?: \?\? \{\})?;/;

export const oneConfigurationReader: Rule = {
  name: "services and libs/search read a recorded configuration through its readers alone",
  check: (repository) =>
    linesThat(
      repository,
      sourcesOf(repository).filter(
        (file) => /^(services\/[^/]+|libs\/search)\/src\//.test(file) && !file.endsWith(".test.ts"),
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
    "a key of a search's section": {
      "libs/search/src/a.ts": 'const most = plan.searcher["max_failures"];\n',
    },
    "a pattern": { "services/a/src/a.ts": "const { searcher } = event.data.config ?? {};\n" },
  },
  kept: {
    "services/a/src/core/a.ts":
      'type Json = EventData<"ExperimentCreated">["config"];\nconst { searcher } = recordedConfig(data.config);\n',
    "services/a/src/core/a.test.ts": 'expect(data.config["name"]).toBe("a");\n',
    "libs/a/src/a.ts": 'const name = config["name"];\n',
  },
};
