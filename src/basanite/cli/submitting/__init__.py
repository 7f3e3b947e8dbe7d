"""What `basanite submit` is made of: what is said about the file, and how it gets to the server."""
