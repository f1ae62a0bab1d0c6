"""The limits of saved folders. Sizes are in bytes."""

# Files from this size on are stored as they are: unchanged ones are neither copied nor sent again.
LARGE_BYTES = 8 << 20
# A checkpoint has at most 5,000 files: these, the archives and the description.
LARGE_FILES_MAX = 4_000
ARCHIVES_MAX = 900
# The size of the manifest's entries of large files, of 896 KiB for all entries.
LARGE_MANIFEST_BYTES = 640 * 1024
# An archive ends at a path that is drawn by its digest, between these sizes. So a file that grows changes its own
# archive, and those after it begin where they did.
ARCHIVE_BYTES_MIN = 16 << 20
ARCHIVE_BYTES_MAX = 60 << 20
ARCHIVE_ENDS_AT_ONE_OF = 64
# A file that changes while it is read is read this often.
READS_MAX = 3
# A change this soon before the save may have the time of a later one: the clock of files is coarse.
SAME_TIME_NS = 100_000_000
# The longest path: Linux has 4,096 bytes, with the folder's own.
PATH_BYTES_MAX = 3_500
# The longest path and name of a stored file.
STORED_PATH_CHARACTERS_MAX = 1_000
NAME_BYTES_MAX = 255
# The largest ignore file that is read.
IGNORE_BYTES_MAX = 1 << 20
# The largest description of a save that is read: 4,000 long paths.
DESCRIPTION_BYTES_MAX = 64 << 20
# The headers of one entry in an archive: two long paths.
HEADER_BYTES_MAX = 64 << 10
# The size in a save beside the contents of its files, for each of its entries: headers with long paths.
ENTRY_BYTES_MAX = 10 << 10
# The number of left out files that a save names.
LEFT_OUT_NAMED_MAX = 5
# The records of complete saves that stay for a log that went back: checkpoint-gc keeps as many saves.
STORED_MAX = 3
