import type { AnyEvent, EventData } from "@trainyard/contracts";

type Section = NonNullable<EventData<"CheckpointDeclared">["storage"]>;

export type CheckpointFacts = {
  readonly declared: boolean;
  /** Empty until declared, and for a folder that a person uploaded. */
  readonly trial: string;
  readonly storage: Section;
  /** The id of the storage, as its writer saw it; absent where it named none. */
  readonly storageId?: string | undefined;
  /** Complete, or never to be. */
  readonly settled: boolean;
  readonly complete: boolean;
  /** A verification found files that are not as the manifest says. */
  readonly damaged: boolean;
  readonly files: number;
  readonly bytes: number;
  /** The holders of the checkpoint. */
  readonly pins: readonly string[];
};

export const unknownCheckpoint: CheckpointFacts = {
  declared: false,
  trial: "",
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

/** A pin is a model version's, or the person's. */
function holderOf({ holder, by }: { readonly holder: string; readonly by: string }): string {
  return holder === "" ? by : holder;
}
