import { expect, test } from "vitest";
import { scriptOf } from "./entrypoint-script.ts";

test.each<readonly [string | readonly string[], string]>([
  ["python3 trian.py", "trian.py"],
  ["  python train.py --epochs 20  ", "train.py"],
  ["/usr/bin/python3.12 ./src//train.py", "src/train.py"],
  ["python3 -u -OO -W error -X importtime -Wignore train.py -m x", "train.py"],
  ["CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1 python3 train.py", "train.py"],
  [["python3", "train it.py", "$HOME"], "train it.py"],
  ["python3 -m trainyard.launch.torch train.py", "train.py"],
  ["python3 -um trainyard.launch.torch_distributed python3 -u train.py", "train.py"],
  ["python3 -m trainyard.launch.deepspeed --grace=5 -- train.py", "train.py"],
  ["torchrun --standalone --nproc_per_node 4 --nnodes=1 train.py --out x.py", "train.py"],
  ["python3 -m torch.distributed.run -r 3 --nproc-per-node=2 train.py", "train.py"],
])("%j starts a script of the training code", (entrypoint, script) => {
  expect(scriptOf(entrypoint)).toBe(script);
});

test.each<string | readonly string[]>([
  "",
  "python3",
  "python3 /opt/train.py",
  "python3 ../train.py",
  "python3 a/../../train.py",
  "python3 ~/train.py",
  "python3 $SCRIPT.py",
  "python3 ${SCRIPT}.py",
  "cd src && python3 train.py",
  "cd src; python3 train.py",
  "make\npython3 train.py",
  "cd src",
  "python3 t*.py",
  "python3 'train.py'",
  "python3 train.py | tee log",
  "python3 -c train.py",
  "python3 -m train",
  "python3 -m pkg.train train.py",
  "python3 -m trainyard.launch.torch -m pkg.train",
  "python3 -m trainyard.launch.torch --no-python run.py",
  "python3 -m trainyard.launch.wrap_rank 0 train.py",
  "python3 -",
  "python3 pkg",
  "python3 --version train.py",
  "torchrun --nproc-per-node 2 train",
  "torchrun --an-unknown-flag train.py settings.py",
  "bash train.sh",
  "accelerate launch train.py",
  "mpirun python3 train.py",
  "./train.py",
  "train.py",
  ["python3 train.py"],
  ["sh", "-c", "python3 train.py"],
])("%j names no script that must be in the training code", (entrypoint) => {
  expect(scriptOf(entrypoint)).toBeNull();
});
