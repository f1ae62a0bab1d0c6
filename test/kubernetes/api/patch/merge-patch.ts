// Patches of content type application/merge-patch+json. Source: RFC 7386.

export const applyMergePatch = (document: unknown, patch: unknown): unknown => {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof document === "object" && document !== null && !Array.isArray(document);
  const result: Record<string, unknown> = isObject ? { ...document } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = applyMergePatch(result[field], value);
  }
  return result;
};
