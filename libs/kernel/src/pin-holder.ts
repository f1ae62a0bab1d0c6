/** The holder of a checkpoint's pin in words: a version of a model, or a person's name as it is. */
const versionHolder = /^model-version:(.+)\/(\d+)$/;

export function holderText(holder: string): string {
  const [, model, version] = versionHolder.exec(holder) ?? [];
  return model === undefined ? holder : `version ${version} of model ${model}`;
}
