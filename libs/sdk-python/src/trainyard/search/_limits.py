"""The limits of a search's client, each with its reason. Times are in seconds."""

# The searcher accepts at most this many operations in one request.
OPERATIONS_MAX = 100
# A gateway that does not answer within this time is unavailable.
REQUEST_TIMEOUT_S = 30.0
# A stream that is silent for this long is broken: the gateway sends a comment every 15 seconds.
STREAM_SILENCE_S = 45.0
BACKOFF_FIRST_S = 0.1
# The longest wait is short, because a search should continue soon after the gateway is back.
BACKOFF_MAX_S = 3.0
# How often a lasting outage is logged.
NOTICE_S = 60.0
# A smaller change of the progress is not posted.
PROGRESS_STEP = 0.01
