"""Commands of whoever runs a server: start it, look after it, move what it holds."""
