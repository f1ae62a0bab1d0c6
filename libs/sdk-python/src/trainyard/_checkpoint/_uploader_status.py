"""How the uploading program ends (see _uploader)."""

# A later attempt may send the rest.
LATER = 75
# They never will.
REFUSED = 65
