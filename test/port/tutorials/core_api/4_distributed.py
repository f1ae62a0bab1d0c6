"""A training loop in one process for each slot of each node; the script starts the processes
itself.
"""

import argparse
import logging
import subprocess
import sys

import determined as det


def main(core_context, latest_checkpoint, increment_by):
    distributed = core_context.distributed
    x, first = 0, 0
    if latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(latest_checkpoint) as folder:
            x, first = (int(part) for part in (folder / "state").read_text().split(","))
    for batch in range(first, 50):
        x += sum(distributed.allgather(increment_by))
        done = batch + 1
        if done % 10 == 0:
            if distributed.get_rank() == 0:
                core_context.train.report_training_metrics(steps_completed=done, metrics={"x": x})
                core_context.train.report_validation_metrics(steps_completed=done, metrics={"x": x})
                core_context.train.report_progress(done / 50)
                with core_context.checkpoint.store_path({"steps_completed": done}) as (folder, _):
                    (folder / "state").write_text(f"{x},{done}")
            if core_context.preempt.should_preempt():
                return


def launch():
    info = det.get_cluster_info()
    local_size = max(1, len(info.slot_ids))
    nodes = len(info.container_addrs)
    processes = []
    for local_rank in range(local_size):
        rank = info.container_rank * local_size + local_rank
        wrap = [sys.executable, "-m", "determined.launch.wrap_rank", str(rank)]
        place = (rank, nodes * local_size, local_rank, local_size, info.container_rank, nodes)
        script = [sys.executable, __file__, "--chief", info.container_addrs[0], "--place"]
        processes.append(subprocess.Popen([*wrap, *script, *map(str, place)]))
    return max(process.wait() for process in processes)


def work(chief, place):
    rank, size, local_rank, local_size, cross_rank, cross_size = place
    info = det.get_cluster_info()
    distributed = det.core.DistributedContext(
        rank=rank,
        size=size,
        local_rank=local_rank,
        local_size=local_size,
        cross_rank=cross_rank,
        cross_size=cross_size,
        chief_ip=chief,
    )
    with det.core.init(distributed=distributed) as core_context:
        main(core_context, info.latest_checkpoint, info.trial.hparams["increment_by"])
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    parser = argparse.ArgumentParser()
    parser.add_argument("--chief")
    parser.add_argument("--place", type=int, nargs=6)
    arguments = parser.parse_args()
    sys.exit(launch() if arguments.place is None else work(arguments.chief, arguments.place))
