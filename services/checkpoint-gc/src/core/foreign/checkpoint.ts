import type { AnyEvent, EventData } from "@trainyard/contracts";

type Section = NonNullable<EventData<"CheckpointDeclared">["storage"]>;

export type CheckpointFacts = {
  readonly declared: boolean;
  /** The trial of the checkpoint; empty until it is declared, for a save of a task and for an uploaded folder. */
  readonly trial: string;
  /** The task whose folder is saved; empty for other checkpoints. */
  readonly task: string;
  readonly storage: Section;
  /** The id of the storage, as the writer of the checkpoint saw it; absent if the writer named none. */
  readonly storageId?: string | undefined;
  /** Whether the upload has ended: complete, failed or abandoned. */
  readonly settled: boolean;
  readonly complete: boolean;
  /** Whether a verification found files that differ from the manifest. */
  readonly damaged: boolean;
  readonly files: number;
  readonly bytes: number;
  /** The model versions and persons that pin the checkpoint. */
  readonly pins: readonly string[];
};

export const unknownCheckpoint: CheckpointFacts = {
  declared: false,
  trial: "",
  task: "",
  storage: {},
  settled: false,
  complete: false,
  damaged: false,
  files: 0,
  bytes: 0,
  pins: [],
};

export function evolveCheckpoint(state: CheckpointFacts, event: AnyEvent): CheckpointFacts {
  switch (event.type) {
    case "CheckpointDeclared":
      return {
        ...state,
        declared: true,
        trial: event.data.trial,
        task: event.data.task ?? "",
        storage: event.data.storage ?? {},
        storageId: event.data.storageId,
      };
    case "CheckpointCompleted":
      return {
        ...state,
        settled: true,
        complete: true,
        files: event.data.files,
        bytes: event.data.bytes,
      };
    case "CheckpointDamaged":
      return { ...state, damaged: true };
    case "CheckpointRepaired":
      return { ...state, damaged: false };
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return { ...state, settled: true };
    case "CheckpointPinned": {
      const holder = holderOf(event.data);
      return state.pins.includes(holder) ? state : { ...state, pins: [...state.pins, holder] };
    }
    case "CheckpointUnpinned":
      return { ...state, pins: state.pins.filter((pin) => pin !== holderOf(event.data)) };
    default:
      return state;
  }
}

/** Returns the holder of a pin: a model version, or the person who pinned. */
function holderOf({ holder, by }: { readonly holder: string; readonly by: string }): string {
  return holder === "" ? by : holder;
}
