import { codecOf, type Plain } from "@trainyard/contracts";
import { type WatchFrame, WatchFrameSchema } from "@trainyard/contracts/api";

export type FrameContent = Exclude<Plain<WatchFrame>["frame"], { case: undefined }>;

const codec = codecOf<Plain<WatchFrame>>(WatchFrameSchema);

/** Encodes a frame as JSON. */
export const frameText = (frame: FrameContent): string =>
  JSON.stringify(codec.toFullJson({ frame }));
