// Names the fields that a JSON text has twice, which JSON.parse overwrites silently. The text is valid JSON.

/** Paths of the form "spec.containers[0].image". */
export const duplicateKeys = (text: string): string[] => {
  const found: string[] = [];
  let at = 0;
  const space = (): void => {
    while (/\s/.test(text[at] ?? "")) at += 1;
  };
  const string = (): string => {
    const start = at;
    at += 1;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const value = (path: string): void => {
    space();
    if (text[at] === "{") object(path);
    else if (text[at] === "[") list(path);
    else if (text[at] === '"') string();
    else while (at < text.length && !",]}".includes(text[at] ?? "")) at += 1;
    space();
  };
  const object = (path: string): void => {
    const seen = new Set<string>();
    at += 1;
    for (space(); text[at] !== "}"; space()) {
      if (text[at] === ",") {
        at += 1;
        space();
      }
      const key = string();
      const inner = path === "" ? key : `${path}.${key}`;
      if (seen.has(key)) found.push(inner);
      seen.add(key);
      space();
      at += 1;
      value(inner);
    }
    at += 1;
  };
  const list = (path: string): void => {
    at += 1;
    space();
    for (let index = 0; text[at] !== "]"; index += 1) {
      if (text[at] === ",") at += 1;
      value(`${path}[${index}]`);
    }
    at += 1;
  };
  value("");
  return found;
};
