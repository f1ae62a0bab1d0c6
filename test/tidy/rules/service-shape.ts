import { type Contents, linesOf, type Repository, type Rule } from "../rule.ts";

const wanted = [
  "README.md",
  "tsconfig.json",
  "src/core/tsconfig.json",
  "src/config.ts",
  "src/telemetry.ts",
  "src/limits.ts",
  "src/main.ts",
  "src/service.ts",
];
const sections = ["Owns", "Promises", "Limits"];
/** The longest README of a service: one screen. */
const readmeLinesMax = 60;
/** Programs that people run have their own structure. */
const programs = new Set(["cli", "web"]);

export const serviceShape: Rule = {
  name: "every service has the same shape, and says on one screen what it is",
  check: (repository) => {
    const names = new Set(
      repository.files.flatMap((file) => /^services\/([^/]+)\//.exec(file)?.slice(1) ?? []),
    );
    return [...names]
      .filter((name) => !programs.has(name))
      .flatMap((name) => [...missing(repository, name), ...readmeProblems(repository, name)]);
  },
  violations: {
    "a file is missing": { ...service("a"), "services/a/src/limits.ts": undefined },
    "there is no shell": { ...service("a"), "services/a/src/shell/a.ts": undefined },
    "it does not say what it promises": {
      ...service("a"),
      "services/a/README.md": "- **Owns** nothing\n- **Limits** none\n",
    },
    "it says too much": {
      ...service("a"),
      "services/a/README.md": `- **Owns**\n- **Promises**\n- **Limits**\n${"more\n".repeat(readmeLinesMax)}`,
    },
  },
  kept: service("a"),
};

function service(name: string): Contents {
  const paths = [...wanted, "src/core/a.ts", "src/shell/a.ts"];
  return {
    ...Object.fromEntries(paths.map((path) => [`services/${name}/${path}`, ""])),
    [`services/${name}/README.md`]: "- **Owns** x\n- **Promises** y\n- **Limits** z\n",
  };
}

function missing({ files }: Repository, name: string): readonly string[] {
  const folder = `services/${name}/`;
  return [
    ...wanted.filter((path) => !files.includes(folder + path)),
    ...["src/core/", "src/shell/"].filter(
      (path) => !files.some((file) => file.startsWith(folder + path)),
    ),
  ].map((path) => `${folder} has no ${path}`);
}

function readmeProblems(repository: Repository, name: string): readonly string[] {
  const readme = `services/${name}/README.md`;
  if (!repository.files.includes(readme)) return [];
  const lines = linesOf(repository, readme);
  return [
    ...sections
      .filter((section) => !lines.some((line) => line.includes(`**${section}**`)))
      .map((section) => `${readme} does not say **${section}**`),
    ...(lines.length > readmeLinesMax ? [`${readme} is longer than a screen`] : []),
  ];
}
