/** The streams of lines and points of a trial, an experiment or a task, which end with it. */
import { isTaskId, streamName } from "@trainyard/kernel";
import type { View } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import type { SeriesTopic } from "../live/core/series.ts";
import type { PositionSignal } from "../live/position-signal.ts";
import { SeriesHub, type SeriesReader } from "../live/series-hub.ts";
import { hasEnded } from "../streams.ts";

/** Returns a hub that wakes at events of the topic's object, too, and ends its streams with the object. */
export function followedUntilEnd<Message>(
  { parts }: Backend,
  moved: PositionSignal,
  reader: SeriesReader<Message>,
): SeriesHub<Message> {
  return new SeriesHub<Message>(parts, {
    async look(topic, after) {
      const { category, id } = ownerOf(topic);
      // The end is looked up first: the page then has all that was stored before it.
      const { state: isEnded } = await parts.executor.cache.load(hasEnded[category], id);
      // A client that asks for the object after the stream sees its end, too.
      const isShown = isEnded && (await isReached(parts.view, parts.follower.position));
      const read = await reader.look(topic, after);
      return { ...read, isOver: isShown && !read.more };
    },
    async tail(topic, wake) {
      const { category, id } = ownerOf(topic);
      const announced = await reader.tail(topic, wake);
      const changed = moved.each(streamName(category, id), wake);
      return {
        async [Symbol.asyncDispose]() {
          changed[Symbol.dispose]();
          await announced[Symbol.asyncDispose]();
        },
      };
    },
  });
}

const isReached = (view: View, position: number): Promise<boolean> =>
  view.reach(position).then(
    () => true,
    () => false,
  );

function ownerOf({ experiment, trial }: SeriesTopic) {
  if (trial === "") return { category: "experiment", id: experiment } as const;
  return { category: isTaskId(trial) ? "task" : "trial", id: trial } as const;
}
