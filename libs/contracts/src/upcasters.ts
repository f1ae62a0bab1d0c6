/**
 * Old events, read as new ones. A changed meaning is a new type (FooV2) and one function here from the old type's body
 * to the new type's; a frozen fixture of the old one keeps it true. Applied until no function fits, so that each needs
 * to know its next version only.
 */

type Upcaster = (body: string) => { readonly type: string; readonly body: string };

type Stored = { readonly type: string; readonly body: string };

export const upcasters: Readonly<Record<string, Upcaster>> = {
  // The first drafts of the log wrote the cause of a wait as text; kept as the worked example of this mechanism.
  "dev.trainyard.allocation.WaitNoted.v1": (body) => {
    const { text } = JSON.parse(body) as { text?: string };
    return {
      type: "dev.trainyard.allocation.WaitExplained.v1",
      body: JSON.stringify({ code: "WAIT_CODE_NOT_ENOUGH_FREE_SLOTS", detail: text ?? "" }),
    };
  },
};

export function upcast(stored: Stored, table = upcasters): Stored {
  let current = stored;
  for (let upcaster = table[current.type]; upcaster !== undefined; upcaster = table[current.type]) {
    current = upcaster(current.body);
  }
  return current;
}
