import { emptyMeta } from "@trainyard/runtime";

/** Of commits that the searcher makes by itself: they belong to nobody's story. */
export const ownMeta = { ...emptyMeta, source: "/trainyard/searcher" };
