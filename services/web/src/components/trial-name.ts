/** The name of a trial on the page of its experiment: "trial 4". Elsewhere it is its id: 113.4. */
export function trialName(trial: string | number): string {
  const text = String(trial);
  return `trial ${text.slice(text.indexOf(".") + 1)}`;
}
