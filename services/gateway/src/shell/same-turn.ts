/**
 * One answer for all who ask the same in one turn of the event loop, such as followers that one announcement wakes. Not
 * for longer: who asks later may know of something that the question under way does not.
 */
export class SameTurn<Answer> {
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
