/** The checkpoints of a trial that can be registered, with the value of the searcher's metric where it is known. */
export type CheckpointChoice = {
  readonly uuid: string;
  readonly step: number;
  readonly value: number | undefined;
  readonly isBest: boolean;
};

type Checkpoint = { readonly uuid: string; readonly stepsCompleted: number };
type Judged = { readonly checkpoint: string; readonly value?: number | undefined };
type List<Item> = { readonly items: readonly Item[]; readonly nextPageToken: string };

export type CheckpointChoices = {
  readonly choices: readonly CheckpointChoice[];
  /** The checkpoint that is chosen at first; empty if the user must choose. */
  readonly first: string;
};

/**
 * Keeps the order of the checkpoints. The best is the first with the best value; none is best without a value, or while
 * there are checkpoints or values that were not read: one of those could be better.
 */
export function checkpointChoices(
  checkpoints: List<Checkpoint> | undefined,
  judged: List<Judged> | undefined,
  smallerIsBetter: boolean,
): CheckpointChoices {
  const isWhole = checkpoints?.nextPageToken === "" && judged?.nextPageToken === "";
  const values = new Map(judged?.items.map(({ checkpoint, value }) => [checkpoint, value]));
  const items = checkpoints?.items ?? [];
  const known = items.flatMap(({ uuid }) => {
    const value = values.get(uuid);
    return value === undefined || Number.isNaN(value) ? [] : [value];
  });
  const value = smallerIsBetter ? Math.min(...known) : Math.max(...known);
  const isBest = ({ uuid }: Checkpoint) => known.length > 0 && values.get(uuid) === value;
  const best = isWhole ? items.find(isBest) : undefined;
  return {
    choices: items.map(({ uuid, stepsCompleted }) => ({
      uuid,
      step: stepsCompleted,
      value: values.get(uuid),
      isBest: uuid === best?.uuid,
    })),
    first: (isWhole ? (best ?? items[0])?.uuid : undefined) ?? "",
  };
}
