/** One editing of a text of the header: what a save sends, and against which revision. */
import { ApiError } from "@trainyard/client";
import { labelChange } from "../../components/labels.ts";
import type { Experiment } from "./tabs.ts";
import type { Edited } from "./verbs-of.ts";

type Read = Pick<Experiment, "etag" | "labels">;

/**
 * The change is always the one since the editing began. It is against the revision of that time, so that a change that
 * another person made meanwhile is not overwritten; after a refusal for that reason it is against what the page shows.
 */
export class TextEdit {
  readonly #begun: Read;
  #isOutdated = false;

  constructor(begun: Read) {
    this.#begun = begun;
  }

  get labels(): readonly string[] {
    return this.#begun.labels;
  }

  /** Returns null if the text is no change. */
  request(field: Edited, text: string, latest: Pick<Read, "etag">) {
    const ifMatch = this.#isOutdated ? latest.etag : this.#begun.etag;
    const given = text.trim();
    const change = field === "labels" ? labelChange(this.labels, given) : { [field]: given };
    return change === null ? null : { change, ifMatch };
  }

  /** Returns whether a save failed because of another person's change. */
  isOutdatedBy(error: unknown): boolean {
    const isOutdated = error instanceof ApiError && error.problem.status === 412;
    this.#isOutdated ||= isOutdated;
    return isOutdated;
  }
}
