import { judgeStorageWorld } from "./storage-world.ts";
const [from, to] = process.argv.slice(2).map(Number);
for (let seed = from!; seed <= to!; seed += 1) {
  const t = performance.now();
  console.log(
    seed,
    (await judgeStorageWorld(seed)).slice(0, 6),
    Math.round(performance.now() - t),
    "ms",
  );
}
