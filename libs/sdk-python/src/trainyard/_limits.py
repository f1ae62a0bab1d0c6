"""The limits of the SDK, each with its reason. Times are in seconds, sizes in bytes."""

# The metrics service accepts at most this many reports in one request.
BATCH_REPORTS_MAX = 1_000
# The service's limit is 4 MiB for a whole request; the difference is for the JSON around the reports.
BATCH_BYTES_MAX = 3_500_000
# The metrics service accepts 192 KiB of metrics per report, as JavaScript writes them. Numbers like 1e-06 are up
# to 1.5 times as long there, all else has the same length. Larger values belong in a checkpoint.
REPORT_BYTES_MAX = 131_072
# The metrics service accepts at most this many names in one report.
METRIC_NAMES_MAX = 4_096
# Reports that cannot be written to a full disk stay in memory up to this size, some thousands of them; then the
# oldest are dropped.
HELD_REPORT_BYTES_MAX = 8 * 1024 * 1024
# The delivered part of the spool is freed on the disk in pieces of this size.
SPOOL_PIECE_BYTES = 16 * 1024 * 1024
# The longest name that is readable in a chart's legend.
NAME_CHARACTERS_MAX = 255
# The metrics service indexes groups, and counts their length in UTF-16 code units.
GROUP_UNITS_MAX = 128
# The nesting depth of metrics: enough for any summary, and small enough to detect a value that contains itself.
METRIC_DEPTH_MAX = 32

# Requests of one run are at least this far apart, so that a fast loop costs few requests.
SEND_INTERVAL_S = 0.1
# How often the sender checks for reports of another process of the same run.
SPOOL_POLL_S = 1.0
# A service that accepts a batch but does not answer for this long is unavailable.
SEND_TIMEOUT_S = 30.0
# The first and the longest wait between attempts of a sender.
SEND_BACKOFF_FIRST_S = 0.2
SEND_BACKOFF_MAX_S = 10.0
# A longer Retry-After is capped at this: it is more likely a mistake than a plan.
RETRY_AFTER_MAX_S = 60.0
# Leaving the context waits at most this long for deliveries; the agent delivers the rest.
FLUSH_S = 5.0

# The gateway delays its answer to a stop poll for this long while no stop is requested.
SIGNAL_WAIT_MS = 30_000
# The time for the answer to travel, in addition to the gateway's wait.
SIGNAL_MARGIN_S = 10.0
# The delay of the first stop poll after the start.
SIGNAL_FIRST_S = 0.05
SIGNAL_BACKOFF_FIRST_S = 0.1
# The longest wait between polls is short, so that a stop is seen soon after the gateway is back.
SIGNAL_BACKOFF_MAX_S = 2.0
# The shortest time between polls: a gateway that answers "no stop" at once must not be polled in a tight loop.
SIGNAL_INTERVAL_S = 0.5
# The time between polls while a stop is requested that the script has not read: it may be withdrawn.
SIGNAL_PENDING_S = 2.0
# How often the run's folder is checked for a stop request of the agent.
STOP_FILE_S = 0.5
# A refused token rarely becomes valid again: it is retried only because a clock may be slow.
SIGNAL_REFUSED_S = 30.0

# Storing a checkpoint waits this long for the platform's decision: usually enough for a refusal to be raised, and
# short enough for a training loop.
CHECKPOINT_WAIT_S = 2.0
# Calls that wait for the platform accept slow answers: the platform may have to hash large files.
CHECKPOINT_TIMEOUT_S = 120.0
CHECKPOINT_BACKOFF_FIRST_S = 0.2
CHECKPOINT_BACKOFF_MAX_S = 5.0
# A checkpoint that is undecided for this long, for a reason that may be its own, moves behind the others.
CHECKPOINT_TURN_S = 60.0
# An internal error that lasts this long is a defect that retries do not resolve.
CHECKPOINT_DEFECT_S = 600.0
# A call that must wait for the platform (a restore, or storing without a known root) fails after this time. It is
# longer than most outages, and a hanging run would occupy its slots for nothing.
CHECKPOINT_PATIENCE_S = 3600.0
# How often a store that waits for disk space checks again: other processes may use the disk, too.
DISK_LOOK_S = 1.0
# Sealed checkpoints that wait for their upload may use this share of the free disk, unless the agent sets another.
DISK_SHARE = 0.5
# How often a waiting checkpoint call logs that it still waits.
CHECKPOINT_NOTICE_S = 60.0
# A platform that does not answer for this long is logged as a warning: a shorter silence, as under load, is usual.
CHECKPOINT_AWAY_NOTICE_S = 60.0
# A manifest is part of one NATS message, which may have 1 MiB in total.
CHECKPOINT_FILES_MAX = 5_000
MANIFEST_BYTES_MAX = 950_000
# The registry's limit for manifests in an object store, which include the digests of all parts: about 850 GiB of
# files.
UPLOAD_MANIFEST_BYTES_MAX = 896 * 1024
# The size of the pieces in which files are read and hashed.
COPY_BYTES = 1 << 20

# The number of checks after which another process must have finished writing the storage's marker (without links).
MARKER_LOOKS_MAX = 10
MARKER_WAIT_S = 0.05

# The platform's answers are smaller, even download plans with the longest manifest.
REPLY_BYTES_MAX = 16 * 1024 * 1024
# The length to which an exception's text in the end record is cut.
MESSAGE_CHARACTERS_MAX = 2_000

# The processes of a run wait this long for each other: a node may still be unpacking its code.
JOIN_S = 600.0
# An unknown process that connects and sends nothing delays the others by at most this time.
HANDSHAKE_S = 10.0
# How often a process retries to connect to the chief.
CONNECT_BACKOFF_S = 0.05
# The loss of a peer's host is detected after about this time multiplied by the count.
KEEPALIVE_S = 15
KEEPALIVE_COUNT = 4
# The size of the pieces in which a peer's data is read.
WIRE_BYTES = 1 << 18

# A distributed rank reports its position after this long on one batch: longer than most steps and first
# compilations, and much shorter than gloo's timeout of half an hour.
STALL_S = 120.0
STALL_LOOK_S = 5.0

# The wait of a launcher between SIGTERM and SIGKILL for ranks that outlive a failed one.
LAUNCH_GRACE_S = 10.0
# After a rank reports the loss of another, that other rank has this long to report its error: it delivers its
# reports (FLUSH_S) before its process ends.
LAUNCH_SETTLE_S = 8.0
# How often a launcher checks whether a rank has reported that it hangs.
LAUNCH_STALL_LOOK_S = 1.0
# How often a launcher checks for reports of other nodes.
LAUNCH_LOOK_S = 0.05
# The wait, after a process has ended, for output that another process still holds open.
LAUNCH_OUTPUT_END_S = 1.0
# A longer line is split.
LAUNCH_LINE_BYTES = 65_536
# The number of last lines of a rank's stderr that are searched for a traceback.
LAUNCH_TAIL_LINES = 400
# The range of a launcher's free ports: below the ports that Linux assigns to clients (32768), and above those that
# the scheduler assigns to runs.
LAUNCH_PORT_FIRST = 30_000
LAUNCH_PORTS = 2_700

# Files of at least this size are hashed in a thread beside the one that moves them, at most this many pieces
# behind.
HASH_LANE_BYTES_MIN = 8 << 20
HASH_LANE_PIECES = 4
# If files of at least HASH_LANE_BYTES_MIN have this total size, the platform reads the largest ones ahead.
READ_AHEAD_BYTES_MIN = 64 << 20
READ_AHEAD_FILES_MAX = 100
# The read-ahead request only saves time, so it times out early.
READ_AHEAD_TIMEOUT_S = 5.0
# The number of a checkpoint's files that are synced and hashed at one time.
SEAL_LANES = 4

# How often changed TensorBoard files are uploaded to an object store.
TENSORBOARD_SYNC_S = 60.0
# The size of the parts in which files are uploaded to an object store.
UPLOAD_PART_BYTES = 64 << 20
# The registry accepts a reason of 1,000 UTF-16 code units: at most two per character.
FAIL_REASON_CHARACTERS = 500
# The number of files that the platform plans in one request.
UPLOAD_FILES_PER_PLAN = 100
# The number of parts that are uploaded, or files that are downloaded, at one time.
UPLOAD_CONNECTIONS = 8
# A store whose connection moves no data for this long is unavailable.
STORE_TIMEOUT_S = 60.0
# The length to which an object store's refusal is cut in messages.
STORE_ANSWER_BYTES_MAX = 2_000
# A plan is used for this long. The next plan request also reports the progress to the platform.
UPLOAD_PLAN_S = 60.0
# After this many rounds without progress an upload is left to the next attempt.
UPLOAD_ROUNDS_MAX = 5
# How often a long transfer logs its progress.
TRANSFER_NOTICE_S = 5.0
# For this long, files that were uploaded are assumed to be still in the store.
UPLOAD_REMEMBERED_S = 300.0
# An upload that moves no data for this long is killed and retried later. The agent has the same limit.
UPLOAD_SILENCE_S = 600.0

# The packages of a run are reported once, this long after its start.
ENVIRONMENT_FIRST_S = 1.0
ENVIRONMENT_TIMEOUT_S = 10.0
ENVIRONMENT_ATTEMPTS = 8
ENVIRONMENT_BACKOFF_FIRST_S = 1.0
ENVIRONMENT_BACKOFF_MAX_S = 30.0
# The gateway's limit for the number of packages.
ENVIRONMENT_PACKAGES_MAX = 2_000
