import { dirname, join, normalize } from "node:path";
import type { Repository, Rule } from "../rule.ts";
import { sourcesOf } from "../rule.ts";
import { importsOf } from "./imports.ts";

const src = "services/web/src/";
const entry = `${src}main.tsx`;

/** The folders of the web from the highest floor down; files beside them start the app. */
const floors = ["app", "pages", "canvas", "components", "data", "theme"];

/** The folders of a file below src: [pages, model] for pages/model/page.tsx. */
const placeOf = (file: string): readonly string[] => file.slice(src.length).split("/").slice(0, -1);

export const webFolders: Rule = {
  name: "each folder of the web is a floor and imports only lower floors, and no page imports another",
  check: (repository) => {
    const files = sourcesOf(repository).filter((file) => file.startsWith(src));
    const without = files.filter((file) => floorOf(placeOf(file)) === -1 && file !== entry);
    const upward = importsOf(repository, files)
      .filter(({ what }) => what.startsWith("."))
      .filter(({ file, what }) =>
        isForbidden(placeOf(file), placeOf(normalize(join(dirname(file), what)))),
      );
    return [
      ...without.map((file) => `${file} is on no floor`),
      ...upward.map(({ file, what }) => `${file} imports ${what}`),
    ];
  },
  violations: {
    "a page that imports another": {
      "services/web/src/pages/home/page.tsx": 'import { columns } from "../models/columns.tsx";\n',
    },
    "a page that loads a type of another": {
      "services/web/src/pages/home/parts/a.ts": 'import type { A } from "../../models/a.ts";\n',
    },
    "a component that imports a page": {
      "services/web/src/components/table/table.tsx": 'export { a } from "../../pages/home/a.ts";\n',
    },
    "a drawing that imports a page": {
      "services/web/src/canvas/value.tsx": 'import { a } from "../pages/home/a.ts";\n',
    },
    "the theme with a page": {
      "services/web/src/theme/theme.ts": 'const a = await import("../pages/home/a.ts");\n',
    },
    "a drawing that imports the app": {
      "services/web/src/canvas/value/value.tsx": 'import { router } from "../../app/router.ts";\n',
    },
    "a page that imports the app": {
      "services/web/src/pages/home/route.ts": 'import { Shell } from "../../app/shell.tsx";\n',
    },
    "data that imports a component": {
      "services/web/src/data/live/patch.ts":
        'import { bytes } from "../../components/format.ts";\n',
    },
    "a folder without a floor": { "services/web/src/parts/a.ts": "export const a = 1;\n" },
  },
  kept: {
    "services/web/src/pages/home/parts/a.ts":
      'import { b } from "../b.ts";\nimport { c } from "../../../components/c.ts";\nimport styles from "../page.module.css";\n',
    "services/web/src/pages/home/route.ts": 'import { rootRoute } from "../root-route.ts";\n',
    "services/web/src/app/router.ts": 'import { homeRoute } from "../pages/home/route.ts";\n',
    "services/web/src/components/checkpoint/verbs.tsx":
      'import { useCall } from "../../data/calls.ts";\n',
    "services/web/src/main.tsx": 'import { router } from "./app/router.ts";\n',
    "services/web/src/canvas/draw.ts": 'import type { Colours } from "../theme/colours.ts";\n',
  },
};

const floorOf = ([folder = ""]: readonly string[]): number => floors.indexOf(folder);

/** Files of pages/ itself are for all pages. */
function isForbidden(from: readonly string[], to: readonly string[]): boolean {
  if (floorOf(to) < floorOf(from)) return true;
  const [[floor, page], [, other]] = [from, to];
  return floor === "pages" && to[0] === "pages" && other !== undefined && other !== page;
}

const tokens = `${src}theme/tokens.css`;
const colourFunctions = /\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\(|(?<!-)\bcolor\(/;
const hex = "#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})";
/** Names of colours; "transparent" and "currentcolor" are allowed. */
const names =
  "white|black|gr[ae]y|silver|red|maroon|orange|gold|yellow|olive|green|lime|teal|cyan|blue|navy|purple|violet|magenta|pink|brown";
const inStyles = new RegExp(
  `:\\s[^;{}]*(?:${hex}\\b|(?<![-\\w.])(?:${names})(?![-\\w]))|${colourFunctions.source}`,
  "gi",
);
const inCode = new RegExp(`["'\`]${hex}["'\`]|["'\`][^"'\`\\n]*${colourFunctions.source}`, "gi");

function coloursIn(repository: Repository, file: string): readonly string[] {
  const pattern = file.endsWith(".css") ? inStyles : inCode;
  const text = repository.read(file).replaceAll(/\/\*[\s\S]*?\*\//g, "");
  return [...text.matchAll(pattern)].map(([found]) => `${file}: ${found.trim()}`);
}

export const webColours: Rule = {
  name: "only theme/tokens.css names colours of the pages",
  check: (repository) =>
    repository.files
      .filter((file) => file.startsWith(src) && /\.(css|tsx?)$/.test(file))
      .filter((file) => file !== tokens && !file.endsWith(".test.ts"))
      .flatMap((file) => coloursIn(repository, file)),
  violations: {
    "a function of a colour": {
      "services/web/src/app/a.module.css": ".a {\n  background: rgb(0 0 0 / 32%);\n}\n",
    },
    "a number of a colour": {
      "services/web/src/app/a.module.css": ".a {\n  border: 1px solid #E4E7EB;\n}\n",
    },
    "a name of a colour": {
      "services/web/src/components/a.module.css": ".a {\n  color: white;\n}\n",
    },
    "a name on a line of its own": {
      "services/web/src/theme/base.css": ".a {\n  box-shadow:\n    0 0 2px\n    black;\n}\n",
    },
    "a colour in code": {
      "services/web/src/canvas/draw.ts": 'context.fillStyle = "#fff";\n',
    },
    "a function of a colour in code": {
      "services/web/src/canvas/a.tsx": "const a = <path fill={`hsl(${hue} 50% 50%)`} />;\n",
    },
  },
  kept: {
    [tokens]: ":root {\n  --text: #15181c;\n  --shadow: 0 4px 24px rgb(0 0 0 / 14%);\n}\n",
    "services/web/src/app/a.module.css":
      "/* color: white */\n.red:hover .blue {\n  color: var(--red);\n  background: transparent;\n  white-space: nowrap;\n  fill: color-mix(in srgb, var(--accent) 30%, transparent);\n}\n",
    "services/web/src/app/a.ts":
      'this.#add("#a1 of 3");\nconst hue = colours.red;\nconst href = "#token";\n',
    "services/web/src/app/a.test.ts": 'expect(colour).toBe("#000000");\n',
  },
};
