export { type BinaryEvent, binaryModeOf } from "./bindings.ts";
export {
  checkedPlace,
  type EventPlace,
  logBeginning,
  placeText,
  readPlace,
} from "./event-place.ts";
export {
  categoriesOf,
  type ExperimentFacts,
  type Filter,
  isInScope,
  matches,
  namesEvents,
  needsFacts,
  readFilter,
} from "./filter.ts";
export { LeavingEvent } from "./leaving-event.ts";
export { outboundLimits } from "./limits.ts";
export { RecentEvents } from "./recent-events.ts";
export {
  jobsNamedIn,
  type KnownObjects,
  mayRead,
  mayReadStream,
  maySee,
  objectsOf,
  objectsOfStream,
  readsAll,
} from "./rights.ts";
export { checkpointMakers, type ObjectSource, readObjects } from "./known-objects.ts";
