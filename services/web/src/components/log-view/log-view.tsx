/**
 * The log of a trial, of all trials of an experiment, or of a task. The page's address contains the conditions and
 * display options.
 */
import { ArrowDown } from "lucide-react";
import { type JSX, useCallback, useMemo, useRef } from "react";
import { Button } from "../button.tsx";
import { EmptyState } from "../empty-state.tsx";
import { count, time } from "../format.ts";
import { OverNote } from "../over-note.tsx";
import { LineDetails } from "./line-details.tsx";
import type { RowOptions } from "./line-row.tsx";
import { Lines } from "./lines.tsx";
import { conditionsOf, type LogSearch, withoutConditions } from "./log-search.ts";
import styles from "./log-view.module.css";
import { withoutRedraws } from "./progress-bars.ts";
import type { LogTask } from "./source.ts";
import { Toolbar } from "./toolbar.tsx";
import { type Log, useLog, useMarker } from "./use-log.ts";

type Props = {
  readonly task: LogTask;
  readonly search: LogSearch;
  /** Changes the page's address. */
  readonly onSearch: (search: LogSearch) => void;
  /** The address of a line in the log without conditions. */
  readonly hrefOf: (cursor: string) => string;
  /** The trial, experiment or task may write more lines. */
  readonly live: boolean;
};

export function LogView({ task, search, onSearch, hrefOf, live }: Props): JSX.Element {
  const log = useLog(task, search, live);
  const { state } = log;
  const mark = useMarker(search);
  const { line: from, to, bars = false } = search;
  const chosen = useMemo(() => chosenRange(from, to), [from, to]);
  const { lines } = state.window;
  const rows = useMemo(
    () => withoutRedraws(lines, ({ cursor }) => bars || isIn(chosen, cursor)),
    [lines, bars, chosen],
  );
  const onPress = usePress(search, onSearch);
  const { wrap = false, time: shownTime = "own" } = search;
  const showsTrial = "experiment" in task;
  const address = useRef(hrefOf);
  address.current = hrefOf;
  const look = useMemo<RowOptions>(
    () => ({
      showsTrial,
      time: shownTime,
      wrap,
      mark,
      hrefOf: (cursor) => address.current(cursor),
      onPress,
    }),
    [showsTrial, shownTime, wrap, mark, onPress],
  );
  const line = lines.find(({ cursor }) => cursor === String(from));
  const [[kind, id] = ["", ""]] = Object.entries(task);
  const name = `${kind}-${id}`;
  return (
    <section className={styles["log"]} aria-label="Logs">
      <Toolbar
        {...{ log, search, onSearch, name }}
        chosen={lines.filter(({ cursor }) => isIn(chosen, cursor))}
      />
      <Notices log={log} live={live} />
      <div className={styles["view"]}>
        <Lines
          label={`Lines of ${name.replace("-", " ")}`}
          {...{ log, rows, look }}
          isChosen={(cursor) => isIn(chosen, cursor)}
        />
        <OverNote error={state.problem} onRetry={() => void log.reader.open(state.place)} />
        <FollowButton log={log} live={live} />
      </div>
      {line !== undefined && (
        <LineDetails
          line={line}
          href={hrefOf(line.cursor)}
          onClose={() => onSearch({ ...search, line: undefined, to: undefined })}
          onContext={
            Object.keys(conditionsOf(search)).length === 0
              ? undefined
              : () => onSearch(withoutConditions(search))
          }
        />
      )}
    </section>
  );
}

type Range = readonly [from: number, to: number];

function chosenRange(line: number | undefined, to = line): Range | null {
  if (line === undefined || to === undefined) return null;
  return line < to ? [line, to] : [to, line];
}

const isIn = (range: Range | null, cursor: string): boolean =>
  range !== null && Number(cursor) >= range[0] && Number(cursor) <= range[1];

/** A click chooses a line; with shift, all lines from the chosen one to it. */
function usePress(search: LogSearch, onSearch: (search: LogSearch) => void) {
  const latest = useRef({ search, onSearch });
  latest.current = { search, onSearch };
  return useCallback((cursor: string, extend: boolean) => {
    const now = latest.current;
    const pressed = Number(cursor);
    const isRange = extend && now.search.line !== undefined;
    now.onSearch(
      isRange ? { ...now.search, to: pressed } : { ...now.search, line: pressed, to: undefined },
    );
  }, []);
}

function Notices({ log, live }: { readonly log: Log; readonly live: boolean }): JSX.Element {
  const { removed, problem, reading, window } = log.state;
  const isEmpty = reading === null && window.lines.length === 0 && window.older === null;
  return (
    <>
      {removed !== undefined && (
        <p className={styles["notice"]}>
          {count(removed.lines)} lines that came until {time(removed.untilMs)} were removed by
          retention.
        </p>
      )}
      {isEmpty && problem === null && (
        <EmptyState title={live ? "No line yet." : "No line."}>
          {live
            ? "Lines appear here as its processes write them to stdout and stderr."
            : "No line passes these conditions, or none was written."}
        </EmptyState>
      )}
    </>
  );
}

function FollowButton({ log, live }: { readonly log: Log; readonly live: boolean }): JSX.Element {
  const { reader, state } = log;
  const { following, unseen, ended, window, reading } = state;
  const isLive = live && !ended;
  if (reading === "all") return <p className={styles["status"]}>Reading …</p>;
  if (following) {
    return <p className={styles["status"]}>{isLive ? "Following" : "End of the log"}</p>;
  }
  if (!isLive && window.atEnd) return <></>;
  const said = unseen === 0 ? "" : `${count(unseen)} new lines, `;
  return (
    <Button className={styles["follow"]} onClick={() => reader.follow()}>
      <ArrowDown size={14} aria-hidden />
      {isLive ? `${said}follow` : "To the end"}
    </Button>
  );
}
