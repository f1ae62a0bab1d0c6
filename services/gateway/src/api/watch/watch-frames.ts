import { codecOf, type Plain } from "@trainyard/contracts";
import { type WatchFrame, WatchFrameSchema } from "@trainyard/contracts/api";
import type { Frame } from "../../live/watch-queue.ts";

export type FrameContent = Exclude<Plain<WatchFrame>["frame"], { case: undefined }>;

const codec = codecOf<Plain<WatchFrame>>(WatchFrameSchema);

/** Encodes a frame as JSON. */
export const frameText = (frame: FrameContent): string =>
  JSON.stringify(codec.toFullJson({ frame }));

/** Returns the frame after which a client reads a topic again; an empty topic means all lists and documents. */
export const resetOf = (topic: string, reason: string): Frame => ({
  text: frameText({ case: "reset", value: { topic, reason } }),
});
