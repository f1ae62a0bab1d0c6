import { useQueryClient } from "@tanstack/react-query";
import type { ReplyOf } from "@trainyard/contracts";
import type { Origin } from "@trainyard/search";
import { type JSX, useEffect } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { number, time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import { shownPairs } from "../../components/nested.ts";
import { PlainTable } from "../../components/plain-table.tsx";
import { useCall } from "../../data/calls.ts";
import styles from "./trial.module.css";
import type { ShownTrial } from "./trial.ts";

type Picture = ReplyOf<"getSearchPicture">;
type PictureTrial = Picture["trials"][number];

const originWords: Readonly<Record<Origin, string>> = {
  drawn: "taken from the configuration; values of ranges were drawn at random",
  grid: "a point of the grid",
  space_filling: "drawn to fill the space",
  given: "given in the configuration",
  model: "proposed by the search's model",
  explored: "explored from another trial",
  client: "proposed by a client",
  schedule: "by a schedule",
};

/** An origin that another version recorded is shown as it is. */
function wordsOf(origin: string): string {
  return Object.hasOwn(originWords, origin) ? originWords[origin as Origin] : origin;
}

/** Pages of the search's picture are read until the trial is found. */
export function Decisions({
  trial,
  page,
}: {
  readonly trial: ShownTrial;
  readonly page: string;
}): JSX.Element {
  const queries = useQueryClient();
  const picture = useCall("getSearchPicture", { experiment: trial.experiment, pageToken: page });
  const { state, stepsCompleted } = trial;
  useEffect(() => {
    if (page === "") void queries.invalidateQueries({ queryKey: ["getSearchPicture"] });
  }, [queries, page, state, stepsCompleted]);
  if (picture.error !== null) return <ErrorNote error={picture.error} />;
  if (picture.data === undefined) return <p className={styles["muted"]}>Reading …</p>;
  const found = picture.data.trials.find((one) => one.trial === trial.id);
  if (found !== undefined) return <Decided trial={trial} picture={picture.data} found={found} />;
  const next = picture.data.nextPageToken;
  if (next !== "") return <Decisions trial={trial} page={next} />;
  return <p className={styles["muted"]}>The search has not recorded this trial.</p>;
}

type Found = {
  readonly trial: ShownTrial;
  readonly picture: Picture;
  readonly found: PictureTrial;
};

function Decided({ trial, picture, found }: Found): JSX.Element {
  const { proposed, origin, decisions, decisionsLeftOut, reports } = found;
  return (
    <>
      <ol className={styles["decisions"]}>
        {proposed !== undefined && (
          <li>
            <time>{time(proposed.atMs)}</time>
            <p>Its hyperparameters were {wordsOf(origin)}.</p>
            {/* The first decision about a copy says what it changes. */}
            {found.startFromTrial === undefined && (
              <FactList facts={shownPairs(trial.proposalEvidence)} />
            )}
          </li>
        )}
        {decisionsLeftOut > 0 && <li>{decisionsLeftOut} earlier decisions are left out.</li>}
        {decisions.map(({ at, verb, sentence }) => (
          <li key={`${at?.version} ${verb}`}>
            <time>{time(at?.atMs)}</time>
            <p>
              <b>{verb}</b>
              {sentence !== "" && `: ${sentence}`}
            </p>
          </li>
        ))}
      </ol>
      {reports.length > 0 && <Rungs picture={picture} found={found} />}
    </>
  );
}

/** The trial's rank among the trials of each rung. */
function Rungs({ picture, found }: Omit<Found, "trial">): JSX.Element {
  const rungs = picture.brackets[found.bracket ?? 0]?.rungs ?? [];
  return (
    <PlainTable
      caption="Its rank at each rung"
      rows={found.reports}
      keyOf={({ rung }) => rung}
      columns={[
        { title: "Rung at", numeric: true, cell: ({ rung }) => number(rungs[rung]?.units) },
        {
          title: picture.metric,
          numeric: true,
          cell: ({ value }) => (value === undefined ? "not finite" : number(value)),
        },
        {
          title: "Rank now",
          numeric: true,
          cell: ({ rung, rank }) => `${rank} of ${rungs[rung]?.trials ?? "?"}`,
        },
        // The last rung promotes none: its trials have completed.
        {
          title: "Continue",
          numeric: true,
          cell: ({ rung }) => (rung === rungs.length - 1 ? "" : rungs[rung]?.kept),
        },
        { title: "Cutoff", numeric: true, cell: ({ rung }) => number(rungs[rung]?.cutoff) },
      ]}
    />
  );
}
