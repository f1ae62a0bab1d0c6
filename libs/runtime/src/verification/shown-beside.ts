/** Longer texts are shown around the place of the difference. */
const shownCharacters = 300;
const shownBefore = 60;

/** Cuts two texts to a length that a person can compare. */
export function shownBeside(one: string, other: string): readonly [string, string] {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return [shown(one, same), shown(other, same)];
}

function shown(text: string, differsAt: number): string {
  if (text.length <= shownCharacters) return text;
  const start = Math.max(0, Math.min(differsAt - shownBefore, text.length - shownCharacters));
  const end = start + shownCharacters;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
