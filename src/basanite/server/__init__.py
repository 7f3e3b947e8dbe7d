"""The server: one application for pages and programs. A route parses, asks once and shows; it decides nothing."""
