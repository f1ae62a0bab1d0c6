/** Hyperparameters and metrics as columns: `hparams.optimizer.lr`, `metrics."top 1"`, as filters write them. */
const plain = /^[\w/.-]+$/;

export const hyperparameterField = (name: string): string => fieldOf("hparams", name);
export const metricField = (name: string): string => fieldOf("metrics", name);

function fieldOf(prefix: string, name: string): string {
  return `${prefix}.${plain.test(name) ? name : JSON.stringify(name)}`;
}

export const isAttributeField = (id: string): boolean => /^(hparams|metrics)\../.test(id);

/** Returns the typed column; null unless it names a hyperparameter or a metric. */
export function typedField(text: string): string | null {
  const field = text.trim();
  return /^(hparams|metrics)\.([\w/.-]+|"(?:[^"\\]|\\.)+")$/.test(field) ? field : null;
}

/** The names of a configuration's hyperparameters; nested names are joined with dots. */
export function hyperparameterNames(config: unknown): readonly string[] {
  const { hyperparameters } = (config ?? {}) as { readonly hyperparameters?: unknown };
  return namesIn(hyperparameters, "");
}

function namesIn(value: unknown, path: string): readonly string[] {
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  // A mapping with a type is the range of one hyperparameter.
  if (!isMapping || (path !== "" && "type" in value)) return path === "" ? [] : [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    namesIn(inner, path === "" ? name : `${path}.${name}`),
  );
}
