"""The reports there are: on one system, on several, on problems, on errors, on advice."""
