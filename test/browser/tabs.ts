import { setTimeout as delay } from "node:timers/promises";
import { restartProcess } from "@trainyard/local-cluster";
import type { Page } from "playwright-core";
import type { Stage } from "./support/cluster-stage.ts";

/** The number of tabs with the list of experiments. */
const lists = 9;

/** The errors of requests that fail while the gateway is down, or is not yet level with the log. */
const away =
  /status of 503|ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING|Failed to fetch/;

const config = `
name: before
entrypoint: "true"
searcher: { name: single, metric: loss }
`;

/**
 * Tests ten tabs of one browser, on the list of experiments and on a comparison, while the gateway is down. Each tab
 * follows a change before the outage, reports the lost connection, and shows the changes afterwards without a reload.
 * Needs a cluster with `processes` and without `restart`. Returns the number of tabs; throws on a violation.
 */
export async function tabsOutlastTheGateway(
  stage: Stage,
  skip: (note: string) => never,
  awayMs: number,
): Promise<number> {
  const { world } = stage;
  world.write("code/train.py", "");
  const experiment = await world.submit(config, "code");
  const first = await stage.page(skip, "/experiments");
  stage.guardOf(first).expect(away);
  const opened = async (url: string): Promise<Page> => {
    const page = await first.context().newPage();
    await page.goto(url);
    return page;
  };
  const others = Array.from({ length: lists - 1 }, () => opened(first.url()));
  const compared = opened(`${world.api}/compare?of=${experiment}.all&tab=values&all=true`);
  const pages = [first, ...(await Promise.all([...others, compared]))];
  const all = (text: string) =>
    Promise.all(pages.map((page) => page.getByText(text, { exact: true }).first().waitFor()));
  await all("before");
  const rename = (name: string) => world.client.call("updateExperiment", { experiment, name });
  await rename("followed");
  await all("followed");
  await world.kill("gateway");
  await all("No connection");
  await delay(awayMs);
  await restartProcess("gateway", world.home);
  await rename("afterwards");
  await all("afterwards");
  await Promise.all(
    pages.map((page) => page.getByText("No connection").waitFor({ state: "detached" })),
  );
  return pages.length;
}
