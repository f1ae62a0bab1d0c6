/**
 * Makes an image without a registry: a tar of a few of this host's programs with their libraries, its Python, and the
 * folders that a container needs. `podman import` makes an image of it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { madeOnce } from "@trainyard/testing";

const programs = [
  "bash,cat,chmod,cp,cut,date,dd,df,echo,env,false,grep,head,id,ls,mkdir,mkfifo,printf,ps,rm,sed",
  "seq,setsid,sh,sleep,sort,stat,tail,tee,touch,tr,true,uname,wc",
]
  .join(",")
  .split(",");

/** Returns the path of the tar, of some 50 MB, which is made once per test run, whose temporary folder is its own. */
export async function imageTar(): Promise<string> {
  const folder = await madeOnce("trainyard-test-image", userInfo().uid, async (made) => pack(made));
  return tarIn(folder);
}

/**
 * Returns the path of the tar of a base with what Node needs, as distroless bases have it: the C and C++ libraries,
 * the name service, certificates, and a user. It has no program.
 */
export async function baseTar(): Promise<string> {
  const folder = await madeOnce("trainyard-test-base", userInfo().uid, async (made) => {
    const rootfs = newRootfs(made);
    const wanted = [
      ...sharedLibraries([process.execPath]),
      ...librariesOf(nameService),
      "/etc/ssl/certs/ca-certificates.crt",
    ];
    const paths = wanted.filter((path) => existsSync(path)).map((path) => placed(path).slice(1));
    run("tar", "-C", rootfs, "-cf", tarIn(made), ".");
    run("tar", "-C", "/", "-rf", tarIn(made), ...new Set(paths));
  });
  return tarIn(folder);
}

const tarIn = (folder: string): string => join(folder, "image.tar");

function pack(folder: string): void {
  const tar = tarIn(folder);
  const binaries = programs.map((name) => `/usr/bin/${name}`).filter((path) => existsSync(path));
  const files = binaries.flatMap((path) => [path, realpathSync(path)]);
  const python = realpathSync("/usr/bin/python3");
  const rootfs = newRootfs(folder);
  const library = stdlib(python);
  const wanted = [
    ...files,
    "/usr/bin/python3",
    python,
    // With those of Node, so that the image may be the base of an agent's.
    ...sharedLibraries([...binaries, python, ...modules(library), process.execPath]),
    ...librariesOf(later),
  ];
  run("tar", "-C", rootfs, "-cf", tar, ".");
  const excluded = ["test", "idlelib", "ensurepip", "dist-packages", "__pycache__", "config-*"];
  const without = excluded.map((name) => `--exclude=${name}`);
  const paths = [...new Set(wanted), library].map((path) => placed(path).slice(1));
  run("tar", "-C", "/", "-rf", tar, ...without, ...new Set(paths));
}

/** The folders that every container needs, with the user root. */
function newRootfs(folder: string): string {
  const folders = ["usr/bin", "usr/lib", "usr/sbin", "usr/lib64", "proc", "sys", "dev", "tmp"];
  const rootfs = join(folder, "rootfs");
  for (const name of [...folders, "etc", "root", "run"]) run("mkdir", "-p", join(rootfs, name));
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    run("ln", "-s", `usr/${name}`, join(rootfs, name));
  }
  run("sh", "-c", `printf 'root:x:0:0:root:/root:/bin/sh\\n' > "$0/etc/passwd"`, rootfs);
  run("sh", "-c", `printf 'root:x:0:\\n' > "$0/etc/group"`, rootfs);
  return rootfs;
}

function run(program: string, ...argv: readonly string[]): string {
  return execFileSync(program, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** /lib is a link to /usr/lib, in the image as on this host. */
function placed(path: string): string {
  return /^\/(bin|sbin|lib|lib64)\//.test(path) ? `/usr${path}` : path;
}

function stdlib(python: string): string {
  return run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").trim();
}

function modules(library: string): readonly string[] {
  const found = run("sh", "-c", 'find "$0/lib-dynload" -name "*.so"', library).trim();
  return found === "" ? [] : found.split("\n");
}

/**
 * Libraries that `ldd` does not list: the C library loads the first when a thread ends at the exit of the interpreter,
 * and the packages of a notebook need the others, which images for Python have.
 */
const later = /(?:libgcc_s\.so\.1|librt\.so\.1|libpthread\.so\.0|libstdc\+\+\.so\.6) .*=> (\S+)$/gm;

/** The C library loads these when a program asks for the address of a name. */
const nameService = /(?:libnss_files|libnss_dns|libresolv)\.so\.2 .*=> (\S+)$/gm;

function librariesOf(wanted: RegExp): readonly string[] {
  const said = run("/sbin/ldconfig", "-p");
  const paths = [...said.matchAll(wanted)].map(([, path = ""]) => path);
  return paths.flatMap((path) => [path, realpathSync(path)]);
}

/** The libraries that the loader would load, and the files that their links name. */
function sharedLibraries(binaries: readonly string[]): readonly string[] {
  const said = run("sh", "-c", 'ldd "$@" 2>/dev/null; true', "sh", ...binaries);
  const paths = [...said.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
  return [...new Set(paths)].flatMap((path) => [path, realpathSync(path)]);
}
