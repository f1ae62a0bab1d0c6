import type { Command } from "commander";
import { addBest } from "./search/best.ts";
import { addEvents } from "./search/events.ts";
import { addExplain } from "./search/explain.ts";
import { addImportance } from "./search/importance.ts";
import { addPicture } from "./search/picture.ts";
import { addPost } from "./search/post.ts";
import { addPreview } from "./search/preview.ts";
import { addPareto } from "./search/pareto.ts";
import { addReplay } from "./search/replay.ts";
import { addSchedule } from "./search/schedule.ts";
import { addSimulate } from "./search/simulate.ts";

export function addSearchCommands(program: Command): void {
  const group = program.command("search").alias("s").description("what a search will do, and why");
  addPreview(group);
  addSimulate(group);
  addExplain(group);
  addReplay(group);
  addSchedule(group);
  addImportance(group);
  addBest(group);
  addPareto(group);
  addEvents(group);
  addPicture(group);
  addPost(group);
}
