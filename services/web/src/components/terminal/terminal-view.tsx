import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Size } from "@trainyard/terminal";
import { type JSX, type RefObject, useEffect, useRef, useState } from "react";
import { clock } from "../../data/clock.ts";
import { dialHolder } from "../../data/holder-stream.ts";
import { type Colours, useColours } from "../../theme/colours.ts";
import { Button } from "../button.tsx";
import { allowStyles } from "./allow-styles.ts";
import { terminalTheme } from "./colours.ts";
import { stateText } from "./state-text.ts";
import { type SessionState, TerminalSession } from "./terminal-session.ts";
import styles from "./terminal-view.module.css";

type Props = {
  readonly task: string;
  /** The name of the task's terminal; it is made if there is none. */
  readonly terminal: string;
  /** Opens another one when this one has ended; absent if there can be none. */
  readonly onAgain: (() => void) | undefined;
};

const scrollbackLines = 5_000;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * A terminal of a running task. It is large: load it with React's lazy. Every key is the program's, also Tab and
 * Escape; Shift+F6 moves the focus to the line below, from where Tab continues.
 */
export function TerminalView({ task, terminal, onAgain }: Props): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLParagraphElement>(null);
  const colours = useColours();
  const { state, own, link } = useTerminal({ task, terminal, place, line, colours });
  const isOver = state.kind === "ended" || state.kind === "refused";
  return (
    <section className={styles["view"]} aria-label={`Terminal ${terminal} of task ${task}`}>
      <div ref={place} className={styles["place"]} data-own-escape data-state={state.kind} />
      <p ref={line} className={styles["line"]} tabIndex={-1}>
        <span role="status">{link === "" ? stateText(state, own) : link}</span>
        {isOver && onAgain !== undefined ? (
          <Button look="link" onClick={onAgain}>
            Open another one
          </Button>
        ) : (
          <span className={styles["hint"]}>Shift+F6 leaves the terminal</span>
        )}
      </p>
    </section>
  );
}

type Used = Pick<Props, "task" | "terminal"> & {
  readonly place: RefObject<HTMLElement | null>;
  readonly line: RefObject<HTMLElement | null>;
  readonly colours: Colours;
};

function useTerminal({ task, terminal, place, line, colours }: Used) {
  const [state, setState] = useState<SessionState>({ kind: "connecting" });
  const [own, setOwn] = useState<Size>({ columns: 80, rows: 24 });
  const [link, setLink] = useState("");
  const theme = useRef(colours);
  theme.current = colours;
  const emulator = useRef<Terminal>(null);
  useEffect(() => {
    if (place.current === null) return undefined;
    const styles = allowStyles();
    const opened = openEmulator(place.current, theme.current, {
      onLink: setLink,
      onLeave: () => line.current?.focus(),
    });
    emulator.current = opened;
    const fit = new FitAddon();
    opened.loadAddon(fit);
    const fitted = (): Size => {
      const { cols = 80, rows = 24 } = fit.proposeDimensions() ?? {};
      return { columns: cols, rows };
    };
    const session = new TerminalSession(
      {
        screen: {
          write: (bytes) => new Promise((resolve) => opened.write(bytes, resolve)),
          reset: () => opened.reset(),
          resize: ({ columns, rows }) => opened.resize(columns, rows),
        },
        terminal,
        dial: (signal) => dialHolder(task, signal),
        clock,
        onState: setState,
      },
      fitted(),
    );
    setOwn(fitted());
    opened.onData((text) => session.typed(text));
    opened.onBinary((text) => session.typedBytes(text));
    const observer = new ResizeObserver(() => {
      setOwn(fitted());
      session.fitted(fitted());
    });
    observer.observe(place.current);
    const leave = new AbortController();
    void session.run(leave.signal).finally(() => (opened.options.disableStdin = true));
    opened.focus();
    return () => {
      leave.abort();
      observer.disconnect();
      opened.dispose();
      styles[Symbol.dispose]();
    };
  }, [task, terminal, place, line]);
  useEffect(() => {
    if (emulator.current !== null) emulator.current.options.theme = terminalTheme(colours);
  }, [colours]);
  return { state, own, link };
}

type Events = {
  /** Called with the address of the link below the pointer; empty if there is none. */
  readonly onLink: (address: string) => void;
  readonly onLeave: () => void;
};

function openEmulator(place: HTMLElement, colours: Colours, { onLink, onLeave }: Events): Terminal {
  const emulator = new Terminal({
    cursorBlink: !stillness.matches,
    fontFamily: colours.mono,
    fontSize: 13,
    // A program may say what a link shows, and so its address is shown. Only a click opens it.
    linkHandler: {
      activate: (_event, address) => openLink(address),
      hover: (_event, address) => onLink(address),
      leave: () => onLink(""),
      allowNonHttpProtocols: false,
    },
    logLevel: "off",
    minimumContrastRatio: 4.5,
    scrollback: scrollbackLines,
    theme: terminalTheme(colours),
  });
  emulator.attachCustomKeyEventHandler((event) => {
    if (event.key !== "F6" || !event.shiftKey) return true;
    event.preventDefault();
    if (event.type === "keydown") onLeave();
    return false;
  });
  emulator.open(place);
  return emulator;
}

function openLink(address: string): void {
  if (/^https?:\/\//i.test(address)) window.open(address, "_blank", "noopener,noreferrer");
}
