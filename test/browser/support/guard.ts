/** Collects what a page may not do: errors on its console, scripts that fail, and breaches of its policy. */
import type { BrowserContext, ConsoleMessage } from "playwright-core";

export class Guard {
  readonly #faults: string[] = [];
  readonly #expected: RegExp[] = [];

  /** Before the first page of the context is opened. */
  static async over(context: BrowserContext): Promise<Guard> {
    const guard = new Guard();
    context.on("console", (message) => guard.#heard(message));
    context.on("weberror", (error) => guard.#faults.push(`thrown: ${error.error().message}`));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        const { violatedDirective, blockedURI } = event;
        reportError(new Error(`securitypolicyviolation: ${violatedDirective} ${blockedURI}`));
      });
    });
    return guard;
  }

  /** Errors that hold this text are meant to happen in this test: an answer of 401, for example. */
  expect(...texts: readonly RegExp[]): void {
    this.#expected.push(...texts);
  }

  /** Faults that no test expected. */
  get faults(): readonly string[] {
    return this.#faults.filter((fault) => !this.#expected.some((text) => text.test(fault)));
  }

  #heard(message: ConsoleMessage): void {
    if (message.type() !== "error") return;
    this.#faults.push(`${message.text()} (${message.location().url})`);
  }
}
