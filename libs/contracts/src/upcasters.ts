/**
 * Upcasts old events to the latest version. A changed meaning is a new type (FooV2) and one function here, from the old
 * type's body to the new type's; a fixture of the old type tests it. Upcasters run until none applies, so each produces
 * only its next version.
 */

type Upcaster = (body: string) => { readonly type: string; readonly body: string };

type Stored = { readonly type: string; readonly body: string };

/** The upcasters by old type. */
export type Upcasters = Readonly<Record<string, Upcaster>>;

/** The table is empty: no released event has changed its meaning. `codec.test.ts` has an example. */
export const upcasters: Upcasters = {};

export function upcast(stored: Stored, table: Upcasters = upcasters): Stored {
  let current = stored;
  for (let upcaster = table[current.type]; upcaster !== undefined; upcaster = table[current.type]) {
    current = upcaster(current.body);
  }
  return current;
}
