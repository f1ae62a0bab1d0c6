/** Makes a network with a pod's address, prints its names, and waits to be killed. */
import { PodNetwork } from "../pod-network.ts";

const network = await PodNetwork.open();
const { path } = await network.addPod();
process.stdout.write(`${JSON.stringify({ bridge: network.bridge, path })}\n`);
setInterval(() => {}, 60_000);
