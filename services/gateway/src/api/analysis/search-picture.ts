/** The picture of a search: the data that the graphical views of a search draw. */
import type { Plain } from "@trainyard/contracts";
import type {
  GetSearchPictureResponse,
  PictureDecision,
  PictureTrial,
} from "@trainyard/contracts/api";
import { trialId } from "@trainyard/kernel";
import type { Moment, PicturedDecision, PicturedTrial } from "@trainyard/search";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";
import { SearchPictures } from "./search-pictures.ts";

export function searchPictureHandlers(backend: Backend) {
  const pictures = new SearchPictures(backend.parts.log);
  return {
    getSearchPicture: async ({ experiment, version: asked, pageSize, pageToken }) => {
      await backend.get("experiment", experiment);
      const trials = Math.min(pageSize || Infinity, apiLimits.picturedTrialsMax);
      const { version, from } = pageStart(asked, pageToken);
      const picture = await pictures.of({ experiment, version, from, trials });
      if (picture.version < version) {
        const detail = `the search of experiment ${experiment} has version ${picture.version}, and not yet version ${version}`;
        throw new Problem(400, "invalid_request", detail);
      }
      const next = from + trials;
      const { form, trials: items, decisions, brackets, ...rest } = picture;
      return {
        ...rest,
        form: form ?? "",
        brackets: brackets.map(({ rungs }) => ({
          rungs: rungs.map(({ cutoff, ...rung }) => ({ ...rung, ...known({ cutoff }) })),
        })),
        trials: items.map((trial) => shownTrial(experiment, trial)),
        decisions: decisions.map(shownDecision),
        nextPageToken:
          next > picture.trialsProposed
            ? ""
            : Buffer.from(`${picture.version} ${next}`).toString("base64url"),
      } satisfies Plain<GetSearchPictureResponse>;
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Returns the first trial of a page, and the version of the picture: all pages have the version of the first one. */
function pageStart(version: number, token: string): { version: number; from: number } {
  if (token === "") return { version, from: 1 };
  const text = Buffer.from(token, "base64url").toString("utf8");
  const [, tokenVersion, from] = /^(\d{1,9}) (\d{1,9})$/.exec(text) ?? [];
  const fits = version === 0 || version === Number(tokenVersion);
  if (tokenVersion === undefined || Number(from) < 1 || !fits) {
    throw new Problem(400, "invalid_request", "invalid page_token");
  }
  return { version: Number(tokenVersion), from: Number(from) };
}

/** Returns the fields that are not null. */
function known<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}

function momentOf({ version, atMs, units }: Moment): Moment {
  return { version, atMs, units };
}

function shownTrial(experiment: string, pictured: PicturedTrial): Plain<PictureTrial> {
  const { trial, from, best, place, reports, decisions, ...rest } = pictured;
  return {
    ...rest,
    trial: trialId(experiment, trial),
    ...(from === null
      ? {}
      : { startFromTrial: trialId(experiment, from.trial), startFromTime: from.time }),
    ...known({ best }),
    ...place,
    reports: reports.map((report) => {
      const { rung, time, value, rank } = report;
      return { rung, at: momentOf(report), time, rank, ...known({ value }) };
    }),
    decisions: decisions.map(shownDecision),
  };
}

function shownDecision(decision: PicturedDecision): Plain<PictureDecision> {
  const { event, verb, rule, sentence, evidence } = decision;
  return { at: momentOf(decision), event, verb, rule, sentence, evidence };
}
