/** The page docs/operate/kubernetes.md from nothing to an experiment and back, with the images of this checkout. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { services } from "@trainyard/kernel/services";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, expect, test as plain } from "vitest";
import { programsProblem } from "../programs.ts";
import { imageOf, imagesProblem } from "../../images/built.ts";
import { podman } from "../../images/images.ts";
import { eventually } from "../../world/eventually.ts";
import { podsProblem } from "../nodes/index.ts";
import { InstallWorld, namespace, type Pods } from "./install-world.ts";

let stack: AsyncDisposableStack;
let world: InstallWorld;
let problem: string | null;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  problem =
    process.env["TRAINYARD_KUBECONFIG"] === undefined
      ? (programsProblem() ?? podsProblem() ?? imagesProblem())
      : "a cluster with this host's images";
  if (problem !== null) return;
  world = stack.use(await InstallWorld.start(podman));
}, 600_000);
afterAll(() => stack.disposeAsync());
/** A test that is skipped where its programs are absent. */
const test = plain.extend("programs", { auto: true }, ({ skip }) => {
  if (problem !== null) notRun(skip, problem);
});

const names = services.map(({ name }) => name);
const upgrade = "helm upgrade ty deploy/helm/trainyard -n trainyard -f trainyard.yaml --wait";
/** The image of `migrate` of a later version, whose log has one version more. */
const newer = "--set migrate.image.tag=newer";

/** Takes steps until a file says that they are enough. */
const program = `
import os, time, trainyard
with trainyard.init() as ctx:
    step = 0
    while not os.path.exists("/tmp/enough"):
        step += 1
        print(f"step {step}", flush=True)
        ctx.train.report_training_metrics(step, {"loss": 1 / step})
        time.sleep(0.2)
    ctx.train.report_validation_metrics(step, {"loss": 1 / step})
`;
const experiment = `
name: goes-on
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
`;

test("the page's first commands make an installation whose pods are all ready, and `helm test` trains on its agent", async () => {
  const { page, s3 } = world;
  const said = await page.works(page.next("helm install"));
  // helm has waited for the services.
  expect(Object.keys(world.readyPods())).toEqual(expect.arrayContaining(names));
  await eventually("the agent is ready", async () => "agent-a" in world.readyPods());
  expect(said).toContain("an experiment runs there");
  expect(said).toMatch(/the cluster trains, reports and stores checkpoints\s*$/);
  const checkpoint = /its checkpoint (\S+) is stored/.exec(said)?.[1];
  const stored = s3.served.filter(({ operation }) => operation === "PutObject");
  expect(stored.map(({ key }) => key)).toContain(`checkpoints/${checkpoint}/state.txt`);
}, 240_000);

test("the first token of the page opens the Web UI at the gateway's Service, and makes a user", async () => {
  const { page } = world;
  const address = world.addressOf("ty-gateway");
  const block = page
    .next("export TRAINYARD_TOKEN")
    // The API server here forwards no ports, and this host reaches the addresses of Services.
    .replace(/^kubectl port-forward .*$/m, "")
    .replace("http://127.0.0.1:8080", address);
  const { code, out, err } = await page.run(block);
  expect(code).toBe(0);
  expect(err).toContain("created user ada");
  expect(out).toMatch(new RegExp(`^${address}/#code=\\S+$`, "m"));
  const pages = await (await fetch(address)).text();
  expect(pages).toContain("<title>Trainyard");
});

test("a run and its followed log continue while the pod of every service is deleted once", async () => {
  const { page, folder, cluster } = world;
  mkdirSync(join(folder, "code"));
  writeFileSync(join(folder, "code", "train.py"), program);
  writeFileSync(join(folder, "experiment.yaml"), experiment);
  const experimentId = /\d+/.exec(
    await page.works("yard experiment create experiment.yaml code"),
  )?.[0];
  const follower = page.start(`yard experiment logs -f ${experimentId}`);
  await eventually("it trains", async () => follower.said().includes("step 3"));
  const before = world.readyPods();
  for (const name of names) {
    await page.works(
      `kubectl delete pod -n ${namespace} -l app.kubernetes.io/component=${name} --wait=false
      kubectl rollout status -n ${namespace} deployment/ty-${name} --timeout=90s`,
    );
  }
  expect(changed(before, world.readyPods())).toEqual(names.toSorted());
  const length = follower.said().length;
  await eventually("the log grows", async () => follower.said().length > length + 100);
  await cluster.node.exec(namespace, "ty-agent-a-0", "agent", ["touch", "/tmp/enough"]);
  const { code, out } = await follower.ended;
  expect(code).toBe(0);
  const steps = [...out.matchAll(/step (\d+)$/gm)].map(([, step]) => Number(step));
  expect(steps).toEqual(steps.map((_, at) => at + 1));
  const trials = await world.client().call("listTrials", { experiment: experimentId ?? "" });
  expect(trials.items).toMatchObject([{ state: "COMPLETED", restarts: 0 }]);
}, 240_000);

test("an agent's pod is drained, deleted and comes back, as the page says", async () => {
  const { page } = world;
  const before = world.readyPods();
  await page.works(page.next("yard agent drain").replaceAll("ty-agent-gpu-0", "ty-agent-a-0"));
  await eventually("the agent is back", async () => "agent-a" in world.readyPods());
  expect(changed(before, world.readyPods())).toEqual(["agent-a"]);
}, 120_000);

test("an upgrade of one service's tag, and its rollback, restart no other pod", async () => {
  const { page } = world;
  const before = world.readyPods();
  podman.run("tag", imageOf("gateway"), "localhost/trainyard/gateway:0.1.1");
  await page.works(page.next("helm upgrade ty"));
  const upgraded = world.readyPods();
  expect(changed(before, upgraded)).toEqual(["gateway"]);
  expect(world.imageOf("ty-gateway")).toBe("localhost/trainyard/gateway:0.1.1");
  await page.works("helm rollback ty -n trainyard --wait");
  const back = world.readyPods();
  expect(changed(upgraded, back)).toEqual(["gateway"]);
  expect(world.imageOf("ty-gateway")).toBe(imageOf("gateway"));
  await page.works(page.next("helm upgrade ty"));
  expect(changed(back, world.readyPods())).toEqual([]);
}, 120_000);

test("a migration waits until services are stopped, agents continue meanwhile, and a rollback over it names the way back", async () => {
  const { page } = world;
  world.makeNewerMigrate();
  const before = world.readyPods();
  const early = await page.run(`${upgrade} ${newer}`);
  expect(early.err).toMatch(/pre-upgrade hooks failed: .*ty-migrate/);
  expect(await lastWords("job/ty-migrate")).toMatch(
    /^migrate: the log is at version 1 and has to be migrated to 2, and services are connected \(.*gateway \d.*\): stop all services first, /,
  );
  expect(world.readyPods()).toEqual(before);
  const [stop = "", gone = "", start = ""] = page.next("helm upgrade ty").split("\n");
  await page.works(`${stop}\n${gone}`);
  expect(world.readyPods()).toEqual({ "agent-a": before["agent-a"] });
  await page.works(`${start} ${newer}`);
  // An agent is ready again a moment after the gateway is.
  await eventually("the agent is ready", async () => "agent-a" in world.readyPods());
  const after = world.readyPods();
  expect(changed(before, after)).toEqual(names.toSorted());
  const back = await page.run(page.next("helm rollback ty"));
  expect(back.err).toMatch(/ty-migrate/);
  expect(await lastWords("job/ty-migrate")).toMatch(
    /^migrate: the log was migrated by a newer version .*: deploy that version again, or restore the backup /,
  );
  expect(world.readyPods()).toEqual(after);
  // helm refuses other changes of a release whose rollback has failed.
  await page.works(`helm rollback ty ${await deployed()} -n trainyard --wait`);
  expect(world.readyPods()).toEqual(after);
}, 240_000);

test("a wrong host, a secret without its key and a bucket that refuses have one sentence each, and the pods from before stay", async () => {
  const { page } = world;
  const { gateway, registry } = world.readyPods();
  const wait = "migrate.extraEnv[0].name=TRAINYARD_POSTGRES_WAIT_SECONDS";
  const host = `--set postgres.host=nowhere.example,${wait} --set-string migrate.extraEnv[0].value=1`;
  expect((await page.run(`${upgrade} ${newer} ${host}`)).err).toMatch(/pre-upgrade .*ty-migrate/);
  expect(await lastWords("job/ty-migrate")).toMatch(
    /^migrate: PostgreSQL at nowhere\.example:\d+ .*\(getaddrinfo ENOTFOUND nowhere\.example\)$/,
  );
  const made = "kubectl create secret generic -n trainyard";
  await page.works(`${made} redis --from-literal=adress=redis://redis.example`);
  await page.works(
    `${made} refused --from-literal=access-key-id=ID --from-literal=secret-access-key=NO`,
  );
  // The time is that of each Job, and then of the pods.
  const secrets = "--set redis.existingSecret=redis,storage.existingSecret=refused --timeout 15s";
  const { err } = await page.run(`${upgrade} ${newer} ${secrets}`);
  expect(err).toMatch(/^Error: UPGRADE FAILED: .*ty-gateway not ready/m);
  await eventually("the absent key is named", async () =>
    (await describe("gateway")).includes("Error: couldn't find key url in Secret trainyard/redis"),
  );
  await eventually("the refusal is named", async () =>
    /"reason":"the storage of model code s3:\/\/models\/code at .* refuses .*"msg":"not_ready"/.test(
      await lastWords(`pod/${world.newestPod("registry")}`),
    ),
  );
  expect(world.readyPods()).toMatchObject({ gateway, registry });
}, 240_000);

test("an uninstall leaves what the page says, whose last commands remove it", async () => {
  const { page } = world;
  const restarted = await page.works(page.next("kubectl rollout restart"));
  expect(restarted.trim().split("\n").toSorted()).toEqual(
    names.map((name) => `deployment.apps/ty-${name} restarted`).toSorted(),
  );
  await page.works(page.next("helm uninstall"));
  await eventually("the pods are gone", async () => Object.keys(world.readyPods()).length === 0);
  const kinds = "all,configmaps,endpoints,endpointslices,networkpolicies,poddisruptionbudgets";
  const others = "persistentvolumeclaims,rolebindings,roles,secrets,serviceaccounts";
  const left = async (): Promise<readonly string[]> => {
    const names = await page.works(`kubectl get -n trainyard ${kinds},${others} -o name`);
    return names.trim().split("\n").toSorted();
  };
  const given = ["bucket", "nats-users", "postgres-admin", "redis", "refused"].map(
    (name) => `secret/${name}`,
  );
  const clusters = ["configmap/kube-root-ca.crt", "serviceaccount/default"];
  const documented = ["persistentvolumeclaim/state-ty-agent-a-0", "pod/ty-test", "secret/ty-keys"];
  await eventually("only what the page says is left", async () => {
    expect(await left()).toEqual([...given, ...clusters, ...documented].toSorted());
    return true;
  });
  await page.works(page.next("kubectl delete secret ty-keys"));
  expect(await left()).toEqual([...given, ...clusters].toSorted());
  expect(page.rest).toEqual(["npm run -s images\ndeploy/helm/try-with-kind\n"]);
  expect(world.problems).toEqual([]);
}, 120_000);

test("each verb of the chart's Roles is needed, and the Job that lacks it says which", async () => {
  const verbs = world.roles.flatMap(({ rules }) =>
    (rules as readonly { readonly verbs: readonly string[] }[]).flatMap((rule) => rule.verbs),
  );
  expect(verbs).toEqual(["get", "create"]);
  const all = await Promise.all(verbs.map((verb) => world.installWithout(verb)));
  for (const [index, { helm, said }] of all.entries()) {
    expect(helm).toMatch(
      /INSTALLATION FAILED: failed pre-install: .*ty-keys not ready. status: Failed/,
    );
    const what = `the verb "${verbs[index]}" on the resource "secrets" in the namespace`;
    expect(said).toContain(`keys: the API server of Kubernetes refuses ${what} "without-`);
  }
}, 120_000);

/** The components whose pods are others than before. */
const changed = (before: Pods, after: Pods): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .toSorted();

async function lastWords(of: string): Promise<string> {
  return (await world.page.works(`kubectl logs -n trainyard ${of} --tail 1`)).trimEnd();
}

const describe = (component: string): Promise<string> =>
  world.page.works(`kubectl describe pod -n trainyard -l app.kubernetes.io/component=${component}`);

/** The revision that helm calls deployed. */
async function deployed(): Promise<number> {
  const text = await world.page.works("helm history ty -n trainyard -o json");
  const all = JSON.parse(text) as readonly { readonly revision: number; readonly status: string }[];
  return all.find(({ status }) => status === "deployed")?.revision ?? 0;
}
