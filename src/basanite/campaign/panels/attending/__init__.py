"""What a judge does: join, find the next item on the desk, answer."""
