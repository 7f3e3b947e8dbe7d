"""A panel while it is judged: items, seats, progress, closeness, pay."""
