"""How the uploading program ends (see _uploader)."""

# The platform or the store did not take all of it for now.
LATER = 75
# They never will.
REFUSED = 65
