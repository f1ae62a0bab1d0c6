/**
 * Comments, messages and test names of TypeScript and Python code, drawn at random for a person to read. Generated code
 * is left out.
 */
import { createHash } from "node:crypto";

export type Sample = { readonly file: string; readonly line: number; readonly text: string };
export type SampleKind = "comment" | "message" | "test name";
type Source = { readonly path: string; readonly text: string };

const patterns: Readonly<Record<SampleKind, RegExp>> = {
  comment: /\/\*\*?\s([\s\S]*?)\*\/|((?:^[ \t]*(?:\/\/|#) .*\n)+)|"""([A-Z][\s\S]*?)"""/gm,
  message:
    /(?:detail|message|Error\(|warn\w*\(|reject\([^,]*,)\s*[:=(]?\s*(?:f|r)?(["'`][^"`\n]{20,}["'`])/g,
  "test name": /\b(?:test|it)(?:\.each\([^)]*\))?\(\s*("[^"\n]+"|`[^`\n]+`)|^\s+def (test_\w+)\(/gm,
};

/** All texts of one kind, in the order of the sources. */
export function textsOf(kind: SampleKind, sources: readonly Source[]): readonly Sample[] {
  return sources
    .filter(({ path }) => fits(kind, path))
    .flatMap(({ path: file, text }) =>
      [...text.matchAll(patterns[kind])].map((match) => ({
        file,
        line: text.slice(0, match.index).split("\n").length,
        text: [
          ...(kind === "test name" ? groupsAround(text.slice(0, match.index)) : []),
          plain(match.slice(1).find((group) => group !== undefined) ?? ""),
        ].join(" > "),
      })),
    );
}

/** Draws `count` of the samples, or all if there are fewer. The same seed and samples give the same draw. */
export function drawn(samples: readonly Sample[], count: number, seed: string): readonly Sample[] {
  const rank = ({ file, line, text }: Sample): string =>
    createHash("sha256")
      .update(JSON.stringify([seed, file, line, text]))
      .digest("hex");
  return samples
    .map((sample) => ({ sample, rank: rank(sample) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ sample }) => sample);
}

/** Finds the titles of the describe groups around a test by their indentation, as a failing log prints them. */
function groupsAround(before: string): readonly string[] {
  const lines = before.split("\n");
  // `before` ends with the indentation of the test's line.
  let indent = (lines.pop() ?? "").length;
  const titles: string[] = [];
  for (const line of lines.toReversed()) {
    const [, spaces = "", title] =
      /^( *)(?:describe(?:\.each\([^)]*\))?\(("[^"]+"|`[^`]+`))/.exec(line) ?? [];
    if (title === undefined || spaces.length >= indent) continue;
    indent = spaces.length;
    titles.unshift(title);
  }
  return titles;
}

function fits(kind: SampleKind, path: string): boolean {
  if (!/\.(tsx?|py)$/.test(path) || /(^|\/)gen\//.test(path)) return false;
  const isTest = /\.test\.tsx?$|(^|\/)test_\w+\.py$/.test(path);
  return kind === "comment" || isTest === (kind === "test name");
}

function plain(text: string): string {
  return text
    .replaceAll(/^\s*(?:\*|\/\/|#)\s?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
