/**
 * A page's terminal: what the holder sends is drawn, and what is typed is sent. The terminal has the size of the window
 * in which somebody typed or resized last, which may be another one. Knows no DOM.
 */
import { type Clock, isFault } from "@trainyard/kernel";
import {
  type ByteStream,
  type Ended,
  type FromHolder,
  RepeatedAnswers,
  type Size,
  TerminalLink,
  toHolder,
} from "@trainyard/terminal";

/** The emulator that draws. */
export type Screen = {
  /** Resolves when the bytes are drawn. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Empties the terminal and forgets what it showed. */
  readonly reset: () => void;
  readonly resize: (size: Size) => void;
};

export type SessionState =
  | { readonly kind: "connecting" }
  /** `size` is that of the terminal. */
  | { readonly kind: "connected"; readonly size: Size; readonly notice: string }
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "ended"; readonly ended: Ended }
  | { readonly kind: "refused"; readonly reason: string };

type Options = {
  readonly screen: Screen;
  /** The name of the task's terminal. */
  readonly terminal: string;
  readonly dial: (signal: AbortSignal) => Promise<ByteStream>;
  readonly clock: Clock;
  readonly onState: (state: SessionState) => void;
};

const utf8 = new TextEncoder();

export class TerminalSession {
  readonly #options: Options;
  readonly #answers: RepeatedAnswers;
  readonly #link: TerminalLink;
  /** The size of this page's window. */
  #own: Size;
  #size: Size;
  #notice = "";

  constructor(options: Options, own: Size) {
    this.#options = options;
    this.#own = own;
    this.#size = own;
    this.#answers = new RepeatedAnswers(options.clock);
    this.#link = new TerminalLink(
      {
        dial: options.dial,
        hello: () => ({ open: "terminal", name: options.terminal, ...this.#own }),
        message: (message) => this.#take(message),
        connected: () => this.#tell(),
        lost: (reason) => options.onState({ kind: "lost", reason }),
      },
      options.clock,
    );
  }

  /** Resolves when the terminal has ended, when it cannot be reached for good, or when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { onState } = this.#options;
    onState({ kind: "connecting" });
    try {
      const ended = await this.#link.run(signal);
      if (ended !== null) onState({ kind: "ended", ended });
    } catch (error) {
      if (!isFault(error)) throw error;
      onState({ kind: "refused", reason: error.message });
    }
  }

  typed(text: string): void {
    this.#send(utf8.encode(this.#answers.without(text)));
  }

  /** Bytes that are no text: places of the mouse in an old encoding, one character a byte. */
  typedBytes(text: string): void {
    this.#send(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  }

  /** The page's window has this size now. */
  fitted(own: Size): void {
    if (own.columns === this.#own.columns && own.rows === this.#own.rows) return;
    this.#own = own;
    this.#link.write(toHolder.size(own));
  }

  #send(bytes: Uint8Array): void {
    for (const frame of toHolder.input(bytes)) this.#link.write(frame);
  }

  async #take(message: FromHolder): Promise<void> {
    const { screen } = this.#options;
    if (message.type === "output") await screen.write(message.bytes);
    else if (message.type === "notice") this.#notice = message.text;
    else if (message.type === "size") {
      this.#size = { columns: message.columns, rows: message.rows };
      screen.resize(this.#size);
    } else if (message.type === "screen") {
      this.#answers.screenShown(message.bytes);
      screen.reset();
      await screen.write(message.bytes);
    }
    if (message.type === "notice" || message.type === "size") this.#tell();
  }

  #tell(): void {
    this.#options.onState({ kind: "connected", size: this.#size, notice: this.#notice });
  }
}
