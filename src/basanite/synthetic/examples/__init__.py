"""The small examples of the repository, each made again by one command, byte for byte."""
