/**
 * Shares one answer among equal questions of one turn of the event loop, such as those of followers that one
 * announcement wakes. A question of a later turn is asked again, because its caller may know of newer data.
 */
export class Coalescer<Answer> {
  readonly #asked = new Map<string, Promise<Answer>>();

  ask(question: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#asked.get(question);
    if (known !== undefined) return known;
    if (this.#asked.size === 0) setImmediate(() => this.#asked.clear());
    const answer = ask();
    this.#asked.set(question, answer);
    return answer;
  }
}
