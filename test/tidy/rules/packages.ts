import { linesOf, type Repository, type Rule } from "../rule.ts";

const workspace = "pnpm-workspace.yaml";
const record = "docs/adr/0004-third-party-packages.md";

export const packagesArgued: Rule = {
  name: "every package of the catalog is argued for, has one exact version, and comes from the catalog",
  check: (repository) => {
    if (!repository.files.includes(workspace)) return [`there is no ${workspace}`];
    const catalog = catalogOf(repository);
    if (catalog.length === 0) return [`${workspace} has no catalog`];
    const argued = repository.files.includes(record) ? repository.read(record) : "";
    return [
      ...catalog
        .filter(({ name }) => !argued.includes(`\`${name}\``))
        .map(({ name }) => `${name} is not in ${record}`),
      ...catalog
        .filter(({ version }) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(({ name, version }) => `${name} has no exact version: ${version}`),
      ...repository.files
        .filter((file) => /(^|\/)package\.json$/.test(file))
        .flatMap((file) => uncatalogued(repository, file)),
    ];
  },
  violations: {
    "a package that nobody argued for": { ...example(), [record]: "" },
    "a range of versions": { ...example(), [workspace]: "catalog:\n  yaml: ^2.9.1\n" },
    "a version outside the catalog": {
      ...example(),
      "libs/a/package.json": '{ "dependencies": { "yaml": "2.0.0" } }',
    },
    "no catalog": { ...example(), [workspace]: "packages:\n  - libs/*\n" },
  },
  kept: example(),
};

function example(): Record<string, string> {
  return {
    [workspace]:
      'packages:\n  - libs/*\n\ncatalog:\n  "@a/b": 1.0.0-beta.2\n  yaml: 2.9.1\n\nrest: 1\n',
    [record]: "`yaml` reads YAML, `@a/b` the rest\n",
    "libs/a/package.json":
      '{ "dependencies": { "yaml": "catalog:", "@trainyard/b": "workspace:*" } }',
  };
}

type Entry = { readonly name: string; readonly version: string };

function catalogOf(repository: Repository): readonly Entry[] {
  const lines = linesOf(repository, workspace);
  const start = lines.indexOf("catalog:");
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("  "));
  return lines.slice(start + 1, end === -1 ? lines.length : end).flatMap((line) => {
    const [, name, version] = /^ {2}"?([^":]+)"?: (.+)$/.exec(line) ?? [];
    return name === undefined || version === undefined ? [] : [{ name, version }];
  });
}

type Manifest = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

function uncatalogued(repository: Repository, file: string): readonly string[] {
  const manifest = JSON.parse(repository.read(file)) as Manifest;
  return ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]
    .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
    .filter(([, version]) => version !== "catalog:" && version !== "workspace:*")
    .map(([name, version]) => `${file} asks for ${name} ${version}: use the catalog`);
}
