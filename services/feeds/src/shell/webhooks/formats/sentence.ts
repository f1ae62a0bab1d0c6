/** The text of an event for people in a chat: a title and a few lines, without any markup. */
import type { LeavingEvent } from "@trainyard/outbound";

export type Sentence = { readonly title: string; readonly lines: readonly string[] };

/** Text from training code may be long; a chat shows a part of it. */
const shownCharactersMax = 1_000;

export function sentenceOf(event: LeavingEvent): Sentence {
  const { name, data, stored } = event;
  const text = (field: string): string => shown(data[field]);
  switch (name) {
    case "ExperimentEnded":
      return {
        title: `Experiment ${event.experiment} ${word(text("outcome"), "EXPERIMENT_OUTCOME_")}`,
        lines: [text("reason")],
      };
    case "TrialEnded":
      return {
        title: `Trial ${idOf(stored.stream)} ${word(text("outcome"), "TRIAL_OUTCOME_")}`,
        lines: [text("reason")],
      };
    case "AlertRaised":
      return {
        title: `${word(text("level"), "ALERT_LEVEL_").toUpperCase()}: ${text("title")}`,
        lines: [`Trial ${text("trial")}`, text("text")],
      };
    case "LogPatternMatched":
      return {
        title: `A log line of ${idOf(stored.stream)} matches ${text("pattern")}`,
        lines: [text("line"), `Run ${text("run")} on ${text("agent")}`],
      };
    case "QueueWaitExceeded":
      return {
        title: `Run ${text("run")} has waited for its slots for longer than ${durationOf(data["waitMs"])}`,
        lines: [`Pool ${text("pool")}`],
      };
    default:
      return { title: `${name} of ${stored.stream}`, lines: [text("reason"), text("text")] };
  }
}

/** Returns the value of an enumeration as a word, for example completed. */
function word(value: string, prefix: string): string {
  return (value.startsWith(prefix) ? value.slice(prefix.length) : value).toLowerCase();
}

function shown(value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)} …` : text;
}

const durationOf = (ms: unknown): string => {
  const seconds = Number(ms) / 1_000;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
};

const idOf = (stream: string): string => stream.slice(stream.indexOf("-") + 1);
