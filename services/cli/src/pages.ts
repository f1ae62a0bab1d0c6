import { cliLimits } from "./limits.ts";

type Page<Item> = {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
  readonly position: string;
};

/** A list, whole: all pages as one. */
export async function allPages<Item>(
  fetchPage: (start: {
    readonly pageSize: number;
    readonly pageToken: string;
  }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let pageToken = "";
  for (;;) {
    const page = await fetchPage({ pageSize: cliLimits.pageSize, pageToken });
    items.push(...page.items);
    if (page.nextPageToken === "") return { items, nextPageToken: "", position: page.position };
    pageToken = page.nextPageToken;
  }
}
