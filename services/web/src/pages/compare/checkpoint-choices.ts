/** The checkpoints of a trial that can be registered, with the value of the searcher's metric where it is known. */
export type CheckpointChoice = {
  readonly uuid: string;
  readonly step: number;
  readonly value: number | undefined;
  readonly isBest: boolean;
};

type Checkpoint = { readonly uuid: string; readonly stepsCompleted: number };
type Judged = { readonly checkpoint: string; readonly value?: number | undefined };

/** Keeps the order of the checkpoints. The best is the first with the best value; none is best without a value. */
export function checkpointChoices(
  checkpoints: readonly Checkpoint[],
  judged: readonly Judged[],
  smallerIsBetter: boolean,
): readonly CheckpointChoice[] {
  const values = new Map(judged.map(({ checkpoint, value }) => [checkpoint, value]));
  const known = checkpoints.flatMap(({ uuid }) => {
    const value = values.get(uuid);
    return value === undefined || Number.isNaN(value) ? [] : [value];
  });
  const best = smallerIsBetter ? Math.min(...known) : Math.max(...known);
  const first = checkpoints.find(({ uuid }) => known.length > 0 && values.get(uuid) === best);
  return checkpoints.map(({ uuid, stepsCompleted }) => ({
    uuid,
    step: stepsCompleted,
    value: values.get(uuid),
    isBest: uuid === first?.uuid,
  }));
}
