import { cliLimits } from "./limits.ts";

export type Page<Item> = {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
  readonly position: string;
  /** Present in a list of what the scheduler decides, while the scheduler does not answer. */
  readonly schedulerAnsweredAtMs?: number | undefined;
};

/** Fetches all pages of a list as one, up to `limit` items. */
export async function allPages<Item>(
  fetchPage: (start: {
    readonly pageSize: number;
    readonly pageToken: string;
  }) => Promise<Page<Item>>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let pageToken = "";
  for (;;) {
    const pageSize = Math.min(cliLimits.pageSize, limit - items.length);
    const page = await fetchPage({ pageSize, pageToken });
    items.push(...page.items);
    if (page.nextPageToken === "" || items.length >= limit) {
      return { ...page, items, nextPageToken: "" };
    }
    pageToken = page.nextPageToken;
  }
}
