/** Checkpoints that runs have left on a host, and their runs. */
type Undelivered = {
  readonly checkpoints: number;
  readonly bytes: number;
  readonly runs: readonly string[];
};

/** Returns for example "3 checkpoints, 12 GB (12.1#1)"; empty for none. */
export function undeliveredText(undelivered: Undelivered | undefined): string {
  if (undelivered === undefined) return "";
  const { checkpoints, bytes, runs } = undelivered;
  const number = checkpoints === 1 ? "1 checkpoint" : `${checkpoints} checkpoints`;
  const named = runs.slice(0, runsNamedMax).join(", ");
  const more = runs.length > runsNamedMax ? ", …" : "";
  const of = runs.length === 0 ? "" : ` (${named}${more})`;
  return `${number}, ${sizeText(bytes)}${of}`;
}

const runsNamedMax = 3;

function sizeText(bytes: number): string {
  if (bytes >= 1e9) return `${Number((bytes / 1e9).toPrecision(3))} GB`;
  return bytes >= 1e6 ? `${Number((bytes / 1e6).toPrecision(3))} MB` : `${bytes} bytes`;
}
