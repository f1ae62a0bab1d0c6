import { type Campaign, wholeAndParts } from "../../scripts/lib/campaigns.ts";
import { kills } from "./kills.ts";
import { outages, partsOfFeeds } from "./outages.ts";

/** Longer than every timeout, and than a group of Kafka waits for a member. */
const awayMs = 90_000;

/** The whole campaign takes three quarters of an hour. */
export const campaigns: readonly Campaign[] = [
  ...wholeAndParts("feeds", "events leave while parts die, and consumers are killed 1,000 times", [
    {
      name: "feeds-outages",
      description: "of feeds: 10,000 events while each part is killed, and away for 90 s",
      run: ({ seed, log }) =>
        outages({ seed, parts: partsOfFeeds, awayMs, eventsMin: 10_000, log }),
    },
    {
      name: "feeds-kills",
      description: "of feeds: consumers of each kind are killed at 1,000 random points",
      run: ({ seed, log }) =>
        kills({ seed, kills: 1_000, consumers: { pull: 2, nats: 8, kafka: 16 }, log }),
    },
  ]),
  ...wholeAndParts("feeds-short", "the same as feeds in ten minutes", [
    {
      name: "feeds-short-outages",
      description: "of feeds: each part is killed, and away for 3 s",
      run: ({ seed, log }) =>
        outages({ seed, parts: partsOfFeeds, awayMs: 3_000, eventsMin: 1_000, log }),
    },
    {
      name: "feeds-short-kills",
      description: "of feeds: consumers of each kind are killed at 50 random points",
      run: ({ seed, log }) =>
        kills({ seed, kills: 50, consumers: { pull: 1, nats: 5, kafka: 5 }, log }),
    },
  ]),
  ...partsOfFeeds.map(
    (part): Campaign => ({
      name: `feeds-${part}`,
      description: `of feeds: ${part} alone`,
      run: ({ seed, log }) => outages({ seed, parts: [part], awayMs, eventsMin: 1_000, log }),
    }),
  ),
];
