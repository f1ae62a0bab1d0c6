import { judge } from "./judge.ts";
const [from, to, sched] = process.argv.slice(2).map(Number);
for (let seed = from!; seed <= to!; seed += 1) {
  const started = performance.now();
  const { violations, world } = await judge(seed, sched === 1);
  console.log(
    seed,
    JSON.stringify(world.hazards),
    `ended ${world.ended} ${Math.round(world.virtualMs / 1000)}s deaths ${world.deaths} events ${world.log.store.events.length} in ${Math.round(performance.now() - started)} ms`,
  );
  for (const v of violations.slice(0, 6)) console.log("   ", v);
}
