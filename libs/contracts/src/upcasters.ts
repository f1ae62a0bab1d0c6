/**
 * Old events, read as new ones. A changed meaning is a new type (FooV2) and one function here from the old type's body
 * to the new type's; a frozen fixture of the old one keeps it true. Applied until no function fits, so that each needs
 * to know its next version only.
 */

type Upcaster = (body: string) => { readonly type: string; readonly body: string };

type Stored = { readonly type: string; readonly body: string };

/** The upcasters by old type. */
export type Upcasters = Readonly<Record<string, Upcaster>>;

/** None yet: no released event has changed its meaning. `codec.test.ts` has an example. */
export const upcasters: Upcasters = {};

export function upcast(stored: Stored, table: Upcasters = upcasters): Stored {
  let current = stored;
  for (let upcaster = table[current.type]; upcaster !== undefined; upcaster = table[current.type]) {
    current = upcaster(current.body);
  }
  return current;
}
