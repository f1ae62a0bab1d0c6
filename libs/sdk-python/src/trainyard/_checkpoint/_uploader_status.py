"""The exit statuses of the uploading program (see _uploader)."""

# A later attempt may send the rest.
LATER = 75
# No attempt can send the rest.
REFUSED = 65
