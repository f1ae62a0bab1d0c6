import { ArrowUpToLine, Copy, Download, Filter, WrapText } from "lucide-react";
import { type FormEvent, type JSX, useEffect, useState } from "react";
import { Button } from "../button.tsx";
import { Choice, Field } from "../field.tsx";
import { EnterHint } from "../filter-field.tsx";
import { count } from "../format.ts";
import { parseAnsi } from "./ansi.ts";
import { saveAs } from "../save-as.ts";
import { textOfLog } from "./download.ts";
import { shownText } from "./line-text.ts";
import { inputTime, timeOfInput } from "./line-time.ts";
import { type LogSearch, levels, logSearchOf, searchKinds, streams, times } from "./log-search.ts";
import styles from "./log-view.module.css";
import type { LogLine } from "./source.ts";
import type { Log } from "./use-log.ts";

type Props = {
  readonly log: Log;
  readonly search: LogSearch;
  readonly onSearch: (search: LogSearch) => void;
  /** The name of the file that is downloaded. */
  readonly name: string;
  /** The chosen lines, which the copy button copies. */
  readonly chosen: readonly LogLine[];
};

const kindNames = { text: "Text", words: "Words", regex: "Regex" } as const;

export function Toolbar({ log, search, onSearch, name, chosen }: Props): JSX.Element {
  const further = furtherOf(search);
  const [isOpen, setOpen] = useState(further > 0);
  // A change of the conditions applies to the whole log, so the chosen line is dropped.
  const change = (changes: LogSearch) =>
    onSearch(logSearchOf({ ...search, line: undefined, to: undefined, ...changes }));
  return (
    <div className={styles["toolbar"]} role="toolbar" aria-label="Display of the log">
      <SearchForm search={search} onChange={change} />
      <Choice
        label="Level"
        labelHidden
        value={search.level ?? ""}
        onChange={({ target }) => change({ level: named(levels, target.value) })}
      >
        <option value="">Any level</option>
        {levels.map((level) => (
          <option key={level} value={level}>
            {level === "critical" ? level : `${level} and above`}
          </option>
        ))}
      </Choice>
      <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Filter size={14} aria-hidden /> <span>Filters{further > 0 ? ` (${further})` : ""}</span>
      </Button>
      <span className={styles["space"]} />
      <Button
        aria-pressed={search.wrap === true}
        onClick={() => onSearch(logSearchOf({ ...search, wrap: search.wrap !== true }))}
      >
        <WrapText size={14} aria-hidden /> <span>Wrap</span>
      </Button>
      <Button onClick={() => void log.reader.open("start")}>
        <ArrowUpToLine size={14} aria-hidden /> <span>Start</span>
      </Button>
      <CopyButton log={log} chosen={chosen} />
      <DownloadButton log={log} name={name} />
      {isOpen && <Conditions search={search} onSearch={onSearch} onChange={change} />}
    </div>
  );
}

const furtherOf = ({ stream, rank, node, run, since, until }: LogSearch): number =>
  [stream, rank, node, run, since, until].filter((value) => value !== undefined).length;

const named = <Name extends string>(names: readonly Name[], value: string): Name | undefined =>
  names.find((name) => name === value);

type Changing = {
  readonly search: LogSearch;
  readonly onChange: (changes: LogSearch) => void;
};

function SearchForm({ search, onChange }: Changing): JSX.Element {
  const { q = "", by = "text" } = search;
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange({ q: text === "" ? undefined : text });
  };
  return (
    <form className={styles["search"]} role="search" onSubmit={submit}>
      <span className={styles["query"]}>
        <Field
          label="Search the log"
          labelHidden
          type="search"
          data-search
          placeholder={
            by === "regex"
              ? "Regular expression (RE2)"
              : `Search ${by === "text" ? "text, as it is written" : "whole words"}`
          }
          maxLength={1_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={submit}
        />
        <EnterHint shown={text !== q} />
      </span>
      <Choice
        label="How it is compared"
        labelHidden
        value={by}
        onChange={({ target }) => onChange({ by: named(searchKinds, target.value), q: text })}
      >
        {searchKinds.map((kind) => (
          <option key={kind} value={kind}>
            {kindNames[kind]}
          </option>
        ))}
      </Choice>
    </form>
  );
}

function Conditions(props: Changing & Pick<Props, "onSearch">): JSX.Element {
  const { search, onSearch, onChange } = props;
  return (
    <div className={styles["conditions"]}>
      <Choice
        label="Stream"
        value={search.stream ?? ""}
        onChange={({ target }) => onChange({ stream: named(streams, target.value) })}
      >
        <option value="">Any</option>
        {streams.map((stream) => (
          <option key={stream}>{stream}</option>
        ))}
      </Choice>
      {(["run", "node", "rank"] as const).map((name) => (
        <NumberField
          key={name}
          label={name.charAt(0).toUpperCase() + name.slice(1)}
          value={search[name]}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      <TimeField label="From" value={search.since} onChange={(since) => onChange({ since })} />
      <TimeField label="Until" value={search.until} onChange={(until) => onChange({ until })} />
      <Choice
        label="Time shown"
        value={search.time ?? "own"}
        onChange={({ target }) =>
          onSearch(logSearchOf({ ...search, time: named(times, target.value) }))
        }
      >
        <option value="own">when it was written</option>
        <option value="received">when it was received</option>
      </Choice>
      <Choice
        label="Progress bars"
        value={search.bars === true ? "all" : "last"}
        onChange={({ target }) =>
          onSearch(logSearchOf({ ...search, bars: target.value === "all" }))
        }
      >
        <option value="last">last state</option>
        <option value="all">every state</option>
      </Choice>
      <Button
        onClick={() =>
          onSearch(logSearchOf({ wrap: search.wrap, bars: search.bars, time: search.time }))
        }
        disabled={furtherOf(search) === 0 && search.q === undefined && search.level === undefined}
      >
        Clear
      </Button>
    </div>
  );
}

type NumberProps = {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
};

function NumberField({ label, value, onChange }: NumberProps): JSX.Element {
  return (
    <Field
      label={label}
      inputMode="numeric"
      pattern="\d*"
      size={4}
      placeholder="any"
      value={value ?? ""}
      onChange={({ target }) =>
        onChange(/^\d{1,9}$/.test(target.value) ? Number(target.value) : undefined)
      }
    />
  );
}

function TimeField({ label, value, onChange }: NumberProps): JSX.Element {
  return (
    <Field
      label={label}
      type="datetime-local"
      step={1}
      value={inputTime(value)}
      onChange={({ target }) => onChange(timeOfInput(target.value))}
    />
  );
}

function CopyButton({ log, chosen }: Pick<Props, "log" | "chosen">): JSX.Element {
  const [copied, setCopied] = useState(0);
  const lines = chosen.length > 1 ? chosen : log.state.window.lines;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(lines.map(plainText).join("\n"));
    setCopied(lines.length);
    setTimeout(() => setCopied(0), 2_000);
  };
  const said = chosen.length > 1 ? `Copy ${count(chosen.length)} lines` : "Copy";
  return (
    <Button
      onClick={() => void copy()}
      disabled={lines.length === 0}
      title="The chosen lines (Shift and a click choose several), or those that are loaded"
    >
      <Copy size={14} aria-hidden />
      <span aria-live="polite">{copied === 0 ? said : `Copied ${count(copied)} lines`}</span>
    </Button>
  );
}

const plainText = (line: LogLine): string =>
  parseAnsi(shownText(line, true).text)
    .map(({ text }) => text)
    .join("");

function DownloadButton({ log, name }: Pick<Props, "log" | "name">): JSX.Element {
  const [running, setRunning] = useState<AbortController | null>(null);
  const [said, setSaid] = useState("Download");
  const download = async (): Promise<void> => {
    const stop = new AbortController();
    setRunning(stop);
    try {
      const blob = await textOfLog(
        log.source,
        (lines) => setSaid(`${count(lines)} lines`),
        stop.signal,
      );
      saveAs(`${name}.log`, blob);
      setSaid("Download");
    } catch {
      setSaid(stop.signal.aborted ? "Download" : "Failed, try again");
    }
    setRunning(null);
  };
  return running === null ? (
    <Button
      onClick={() => void download()}
      title="All lines that pass the conditions, as they were written"
    >
      <Download size={14} aria-hidden /> <span>{said}</span>
    </Button>
  ) : (
    <Button onClick={() => running.abort()}>Stop ({said})</Button>
  );
}
