import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { client } from "../../data/client.ts";
import { conditionsOf, type LogSearch } from "./log-search.ts";
import { type Marker, markerOf, noMarks } from "./marks.ts";
import { LogReader, type LogState, type Place, type Schedule } from "./reader.ts";
import { type LogSource, type LogTask, logSource } from "./source.ts";

/** Lines within this many milliseconds are drawn together: nobody reads faster, and the page stays responsive. */
const gatherMs = 60;

const frames: Schedule = {
  beforeFrame: (callback) => void setTimeout(() => void requestAnimationFrame(callback), gatherMs),
  after: (ms, callback) => void setTimeout(callback, ms),
};

export type Log = {
  readonly source: LogSource;
  readonly reader: LogReader;
  readonly state: LogState;
};

/** Reads the lines of a task that match the search, from the search's line or from the log's end. */
export function useLog(task: LogTask, search: LogSearch, live: boolean): Log {
  const key = JSON.stringify([task, conditionsOf(search)]);
  const source = useMemo(() => {
    const [of, conditions] = JSON.parse(key) as [LogTask, ReturnType<typeof conditionsOf>];
    return logSource(client, of, conditions);
  }, [key]);
  const reader = useMemo(() => new LogReader(source, frames), [source]);
  const state = useSyncExternalStore(reader.subscribe, reader.state);
  const wanted = useRef(search.line);
  wanted.current = search.line;

  useEffect(() => {
    void reader.open(placeOf(wanted.current));
    return () => reader.close();
  }, [reader]);

  const { line } = search;
  useEffect(() => {
    if (line === undefined || reader.state().reading === "all") return;
    if (reader.state().window.lines.some(({ cursor }) => cursor === String(line))) return;
    void reader.open(placeOf(line));
  }, [reader, line]);

  useEffect(() => {
    if (live) reader.resume();
  }, [reader, live]);
  useRest(reader);
  return { source, reader, state };
}

const placeOf = (line: number | undefined): Place =>
  line === undefined || line < 1 ? "end" : { cursor: String(line) };

/** Stops following in a hidden tab, and returns to the end when the tab is shown again. */
function useRest(reader: LogReader): void {
  useEffect(() => {
    let wasFollowing = false;
    const changed = (): void => {
      if (document.hidden) {
        wasFollowing = reader.state().following && !reader.state().ended;
        if (wasFollowing) reader.close();
      } else if (wasFollowing) {
        void reader.open("end");
      }
    };
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  }, [reader]);
}

/** Marks the matches in each line. An invalid expression marks nothing: the server reports the error. */
export function useMarker({ q, by }: LogSearch): Marker {
  const [marker, setMarker] = useState<{ readonly mark: Marker }>({ mark: noMarks });
  useEffect(() => {
    let isStale = false;
    const search: LogSearch = { q, by };
    markerOf(search).then(
      (mark) => isStale || setMarker({ mark }),
      () => isStale || setMarker({ mark: noMarks }),
    );
    return () => {
      isStale = true;
    };
  }, [q, by]);
  return marker.mark;
}
