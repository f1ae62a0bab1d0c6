import { type Contents, linesOf, type Repository, type Rule } from "../rule.ts";

const wanted = [
  "README.md",
  "tsconfig.json",
  "src/config.ts",
  "src/telemetry.ts",
  "src/main.ts",
  "src/service.ts",
];
const ofOneRoom = [...wanted, "src/core/tsconfig.json", "src/limits.ts"];
/** Compiles the cores of a service with several rooms. */
const coresOfRooms = "core.tsconfig.json";
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
    "a room has no limits": { ...rooms("a"), "services/a/src/http/limits.ts": undefined },
    "it does not say what it promises": {
      ...service("a"),
      "services/a/README.md": "- **Owns** nothing\n- **Limits** none\n",
    },
    "it says too much": {
      ...service("a"),
      "services/a/README.md": `- **Owns**\n- **Promises**\n- **Limits**\n${"more\n".repeat(readmeLinesMax)}`,
    },
  },
  kept: { ...service("a"), ...rooms("b") },
};

function service(name: string): Contents {
  return contents(name, [...ofOneRoom, "src/core/a.ts", "src/shell/a.ts"]);
}

function rooms(name: string): Contents {
  return contents(name, [
    ...[...wanted, coresOfRooms, "src/testing/a.ts"],
    ...["src/http/a.ts", "src/http/limits.ts", "src/live/core/a.ts", "src/live/limits.ts"],
  ]);
}

function contents(name: string, paths: readonly string[]): Contents {
  return {
    ...Object.fromEntries(paths.map((path) => [`services/${name}/${path}`, ""])),
    [`services/${name}/README.md`]: "- **Owns** x\n- **Promises** y\n- **Limits** z\n",
  };
}

/** A service has a core and a shell, or several rooms, each with its limits and its own core. */
function missing({ files }: Repository, name: string): readonly string[] {
  const folder = `services/${name}/`;
  const own = files.flatMap((file) => (file.startsWith(folder) ? [file.slice(folder.length)] : []));
  const folders = ["src/core/", "src/shell/"].filter(
    (path) => !own.some((file) => file.startsWith(path)),
  );
  const lacking = own.includes(coresOfRooms)
    ? [...wanted, ...limitsOfRooms(own)].filter((path) => !own.includes(path))
    : [...ofOneRoom.filter((path) => !own.includes(path)), ...folders];
  return lacking.map((path) => `${folder} has no ${path}`);
}

function limitsOfRooms(files: readonly string[]): readonly string[] {
  const names = files.flatMap((file) => /^src\/([^/]+)\//.exec(file)?.slice(1) ?? []);
  return [...new Set(names)]
    .filter((name) => name !== "testing")
    .map((name) => `src/${name}/limits.ts`);
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
