"""Named limits of the SDK, each with its reason. Times are in seconds, sizes in bytes."""

# The metrics service accepts at most this many reports in one request.
BATCH_REPORTS_MAX = 1_000
# The service's limit is 4 MiB for a whole request; the rest is room for the wrapping.
BATCH_BYTES_MAX = 3_500_000
# The metrics service takes 192 KiB of metrics in one report, as JavaScript writes them: numbers like 1e-06
# are up to half as long again there, nothing else is longer. Larger values belong into a checkpoint.
REPORT_BYTES_MAX = 131_072
# The metrics service takes at most so many names in one report.
METRIC_NAMES_MAX = 4_096
# Reports that a full disk does not take stay in memory up to here, some thousands of them; then the oldest go.
HELD_REPORT_BYTES_MAX = 8 * 1024 * 1024
# The part of the spool that was delivered is given back to the disk in pieces of this size.
SPOOL_PIECE_BYTES = 16 * 1024 * 1024
# The largest number that a person can still read in a chart's legend.
NAME_CHARACTERS_MAX = 255
# The metrics service keeps groups in an index; it counts in UTF-16.
GROUP_UNITS_MAX = 128
# Deep enough for any summary, shallow enough that a value that contains itself is found at once.
METRIC_DEPTH_MAX = 32

# Requests of one run are at least this far apart, so that a fast loop costs few requests.
SEND_INTERVAL_S = 0.1
# How soon the sender sees what another process of the same run has written.
SPOOL_POLL_S = 1.0
# A service that accepts a batch and says nothing for this long is taken for gone.
SEND_TIMEOUT_S = 30.0
# The first and the longest wait between attempts of a sender.
SEND_BACKOFF_FIRST_S = 0.2
SEND_BACKOFF_MAX_S = 10.0
# Retry-After is obeyed up to this long; a longer one is more likely a mistake than a plan.
RETRY_AFTER_MAX_S = 60.0
# How long leaving the context waits for reports to be delivered; the agent delivers what is left.
FLUSH_S = 5.0

# The gateway holds a question for a stop this long before it answers no.
SIGNAL_WAIT_MS = 30_000
# On top of the wait: the time for the answer to travel.
SIGNAL_MARGIN_S = 10.0
# How long after the start the first question is asked.
SIGNAL_FIRST_S = 0.05
SIGNAL_BACKOFF_FIRST_S = 0.1
# Short, because a stop should be seen soon after the gateway is back.
SIGNAL_BACKOFF_MAX_S = 2.0
# A gateway that answers "no stop" at once must not be asked in a tight loop.
SIGNAL_INTERVAL_S = 0.5
# How soon a stop is seen that the agent wrote into the run's folder.
STOP_FILE_S = 0.5
# A refused token does not become valid again; asking on is only a courtesy to a slow clock.
SIGNAL_REFUSED_S = 30.0

# How long storing a checkpoint waits for the platform to complete it: long enough to raise what it
# refuses while all is well, short enough for a training loop.
CHECKPOINT_WAIT_S = 2.0
# Waiting calls wait for the platform anyway, so an answer may take the time to hash large files.
CHECKPOINT_TIMEOUT_S = 120.0
CHECKPOINT_BACKOFF_FIRST_S = 0.2
CHECKPOINT_BACKOFF_MAX_S = 5.0
# One that is undecided for this long, for a reason that may be its own, lets the checkpoints behind it pass.
CHECKPOINT_TURN_S = 60.0
# An internal error that lasts this long is a defect that waiting does not mend.
CHECKPOINT_DEFECT_S = 600.0
# A call that waits for the platform (a restore; storing where only the platform knows the folder) gives up
# after this long: longer than most outages, and a run that hangs forever holds its slots for nothing.
CHECKPOINT_PATIENCE_S = 3600.0
# How often a save that waits for room on the disk looks: others may use it too.
DISK_LOOK_S = 1.0
# Sealed checkpoints that wait for their upload take this share of the free disk, unless the agent sets another.
DISK_SHARE = 0.5
# How often a waiting checkpoint call says that it still waits.
CHECKPOINT_NOTICE_S = 60.0
# A manifest travels in one message of the bus, of 1 MiB, with other things around it.
CHECKPOINT_FILES_MAX = 5_000
MANIFEST_BYTES_MAX = 950_000
# The same for an object store, where it has the digests of all parts: about 850 GiB of files. The registry's limit.
UPLOAD_MANIFEST_BYTES_MAX = 896 * 1024
# Read and hash in pieces of this size.
COPY_BYTES = 1 << 20

# A process that makes a storage's marker without links has written it within this many looks.
MARKER_LOOKS_MAX = 10
MARKER_WAIT_S = 0.05

# An answer of the platform is small, download plans with the longest manifest included.
REPLY_BYTES_MAX = 16 * 1024 * 1024
# The kept length of an exception's text in the end record.
MESSAGE_CHARACTERS_MAX = 2_000

# How long the processes of a run wait for each other to come: a node may still be unpacking its code.
JOIN_S = 600.0
# A stranger that connects and says nothing keeps the others waiting for at most this.
HANDSHAKE_S = 10.0
# How often a process looks whether the chief listens already.
CONNECT_BACKOFF_S = 0.05
# A peer's host that vanishes is noticed after about this times the count.
KEEPALIVE_S = 15
KEEPALIVE_COUNT = 4
# Read from a peer in pieces of this size.
WIRE_BYTES = 1 << 18

# A rank of several that trains on one batch, or validates on one, for this long says where it is: longer
# than most steps and first compilations take, and much shorter than gloo's half an hour.
STALL_S = 120.0
STALL_LOOK_S = 5.0

# How long a launcher waits between SIGTERM and SIGKILL for the ranks that outlive a failed one.
LAUNCH_GRACE_S = 10.0
# A rank that only says that a neighbour is gone is heard out at once, that neighbour within this: its
# reports are delivered (FLUSH_S) before its process ends.
LAUNCH_SETTLE_S = 8.0
# How often a launcher looks whether a rank says that it hangs.
LAUNCH_STALL_LOOK_S = 1.0
# How often a launcher looks for reports of other nodes.
LAUNCH_LOOK_S = 0.05
# After a process's end, how long output that somebody still holds open is waited for.
LAUNCH_OUTPUT_END_S = 1.0
# A longer line is cut in pieces.
LAUNCH_LINE_BYTES = 65_536
# A rank's traceback is taken from this many last lines of its stderr.
LAUNCH_TAIL_LINES = 400
# Where a launcher looks for free ports of its own: below what Linux gives to clients (32768), and above
# what the scheduler gives to runs.
LAUNCH_PORT_FIRST = 30_000
LAUNCH_PORTS = 2_700

# Files of at least this size are hashed by a thread beside the one that moves them, at most so many pieces later.
HASH_LANE_BYTES_MIN = 8 << 20
HASH_LANE_PIECES = 4
# Where files of at least HASH_LANE_BYTES_MIN have this much together, the platform reads the largest ones ahead.
READ_AHEAD_BYTES_MIN = 64 << 20
READ_AHEAD_FILES_MAX = 100
# A request that only saves time is not waited for.
READ_AHEAD_TIMEOUT_S = 5.0
# Files of a checkpoint that are made durable and hashed at one time.
SEAL_LANES = 4

# TensorBoard files that have changed are sent to an object store this often.
TENSORBOARD_SYNC_S = 60.0
# Files are sent to an object store in parts of this size.
UPLOAD_PART_BYTES = 64 << 20
# The registry takes a reason of 1,000 characters, and counts in UTF-16.
FAIL_REASON_CHARACTERS = 500
# Files that the platform plans in one request.
UPLOAD_FILES_PER_PLAN = 100
# Parts that are sent, or files that are read, at one time.
UPLOAD_CONNECTIONS = 8
# A store that takes or gives nothing for this long has gone.
STORE_TIMEOUT_S = 60.0
# Messages show this much of an object store's refusal.
STORE_ANSWER_BYTES_MAX = 2_000
# A plan is used for this long; then the platform is asked again, and sees how far the upload is.
UPLOAD_PLAN_S = 60.0
# Rounds without any progress after which an upload is left to the next attempt.
UPLOAD_ROUNDS_MAX = 5
# A transfer that takes longer says how far it is, this often.
TRANSFER_NOTICE_S = 5.0
# The client does not look for this long whether files that were sent are still in the store.
UPLOAD_REMEMBERED_S = 300.0
# An upload that moves no byte for this long is ended, and begun again later. The agent has the same limit.
UPLOAD_SILENCE_S = 600.0

# The packages of a run are reported once, when its start is over.
ENVIRONMENT_FIRST_S = 1.0
ENVIRONMENT_TIMEOUT_S = 10.0
ENVIRONMENT_ATTEMPTS = 8
ENVIRONMENT_BACKOFF_FIRST_S = 1.0
ENVIRONMENT_BACKOFF_MAX_S = 30.0
# The gateway's own limit.
ENVIRONMENT_PACKAGES_MAX = 2_000
