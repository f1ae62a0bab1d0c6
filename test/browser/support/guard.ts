/** Collects the faults of pages: errors on the console, failed scripts, and breaches of the policy. */
import type { BrowserContext, ConsoleMessage } from "playwright-core";

/** The agent of a task dials the gateway once its run has started; the page asks for the use of the task again. */
const beforeTunnel = /503 .*\/tasks\/t\d+\/use\)$/;

/**
 * Chromium ends waiting requests when an address of the machine changes, for example when a container starts; pages ask
 * again. https://chromium.googlesource.com/chromium/src/+/main/net/base/net_error_list.h
 */
const networkChanged = /net::ERR_NETWORK_CHANGED|^Error: Unable to preload CSS/;

export class Guard {
  readonly #faults: string[] = [];
  readonly #expected: RegExp[] = [beforeTunnel, networkChanged];

  /** Must be called before the first page of the context is opened. */
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

  /** Declares errors with this text as expected in this test, such as an answer of 401. */
  expect(...texts: readonly RegExp[]): void {
    this.#expected.push(...texts);
  }

  /** The faults that the test did not expect. */
  get faults(): readonly string[] {
    return this.#faults.filter((fault) => !this.#expected.some((text) => text.test(fault)));
  }

  #heard(message: ConsoleMessage): void {
    if (message.type() !== "error") return;
    this.#faults.push(`${message.text()} (${message.location().url})`);
  }
}
