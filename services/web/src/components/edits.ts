/** The texts of a form that the user has changed. Unchanged texts follow the server's. */
export type Edits<Texts> = { readonly [Name in keyof Texts]?: string };

/** Returns the edits that differ from the text that was read. */
export function changedTexts<Texts extends Readonly<Record<string, string>>>(
  read: Texts,
  edits: Edits<Texts>,
): Edits<Texts> {
  const changed = Object.entries(edits).filter(([name, text]) => text !== read[name]);
  return Object.fromEntries(changed) as Edits<Texts>;
}

/** Returns the edits made since `sent` was sent. */
export function editsSince<Texts>(edits: Edits<Texts>, sent: Edits<Texts>): Edits<Texts> {
  const since = Object.entries(edits).filter(([name, text]) => text !== sent[name as keyof Texts]);
  return Object.fromEntries(since) as Edits<Texts>;
}
