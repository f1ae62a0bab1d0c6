"""Named limits of a search's client, each with its reason. Times are in seconds."""

# The searcher takes so many operations at once.
OPERATIONS_MAX = 100
# An answer is due within this; a gateway that says nothing for longer is taken for gone.
REQUEST_TIMEOUT_S = 30.0
# A quiet stream carries a comment every 15 seconds.
STREAM_SILENCE_S = 45.0
BACKOFF_FIRST_S = 0.1
# Short, because a search should continue soon after the gateway is back.
BACKOFF_MAX_S = 3.0
# How often an outage that lasts is spoken of.
NOTICE_S = 60.0
# A change of the progress that is smaller is not worth an operation of its own.
PROGRESS_STEP = 0.01
